import Foundation
import TestSupport
import Testing

/// `Examples/container`: an app that has the agent's socket and its key, and nothing else.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct `An app in a container without privileges` {
  /// The container, started by a user without privileges.
  private struct Container {
    let app: AppPlace
    let sockets: String
    let program: String
    let arguments: [String]

    init() throws {
      app = try AppPlace()
      let directory = app.agent.directory
      sockets = try OtherUser.openDirectory("apps", in: directory)
      let files = try OtherUser.openDirectory("files", in: directory)
      try app.writeFiles(in: files)
      let image = try OtherUser.openDirectory("image", in: directory)
      try AppPlace.copyExample("python/app.py", to: image + "/app.py")
      try AppPlace.copyExample("container/run.sh", to: files + "/run.sh")
      try AppPlace.writePicture(to: image + "/picture")
      // Root is nobody here, so that the container is made without a privilege.
      var all = ["/bin/bash", files + "/run.sh", sockets, files + "/app.key", image]
      if geteuid() == 0 {
        try OtherUser.nobody.own(files + "/app.key")
        all = OtherUser.nobody.prefix + all
      }
      program = all[0]
      arguments = Array(all.dropFirst())
      try start()
    }

    func start() throws {
      try app.agent.start("--apps-socket", sockets + "/apps.sock", "--apps-mode", "0666")
    }
  }

  @Test func `does its work through the agent, which has the network that it lacks`() throws {
    let container = try Container()
    let output = try container.app.run(
      container.program,
      container.arguments + [
        "/usr/bin/python3", "/app/app.py", "/run/vault/apps.sock", "/run/secrets/app.key",
        container.app.api, "/app/picture",
      ]
    ) {
      // The agent ends and comes again, and the app in its container goes on.
      container.app.agent.stop()
      try container.start()
    }
    #expect(output.hasPrefix("app bot\naccount own lestat\n"), "\(output)")
    #expect(output.contains(#"answer 200 {"name":"Lestat"}"#), "\(output)")
    #expect(output.hasSuffix("upload 201\nerror never_asked\n"), "\(output)")
  }

  @Test func `has no capability, no network, nothing to write to, and no file of the owner's`()
    throws
  {
    let container = try Container()
    let app = container.app
    let vault = try #require(app.agent.environment["VAULT_FILE"])
    #expect(FileManager.default.fileExists(atPath: vault))
    let ended = try AgentHome.run(
      container.program,
      container.arguments + [
        "/usr/bin/python3", "-c",
        """
        import os, socket, sys
        lines = dict(l.split(":", 1) for l in open("/proc/self/status"))
        print("caps", {lines[n].strip() for n in lines if n.startswith("Cap")})
        print("privileges", lines["NoNewPrivs"].strip())
        print("root", os.getuid() == 0)
        print("files", sorted(os.listdir("/")))
        print("vault", os.path.exists(sys.argv[1]))
        print("processes", len([n for n in os.listdir("/proc") if n.isdigit()]) <= 3)
        print("networks", [l.split(":")[0].strip() for l in open("/proc/net/dev")][2:])
        s = socket.socket()
        print("provider", s.connect_ex(("127.0.0.1", int(sys.argv[2]))) != 0)
        for path in ["/x", "/app/x", "/run/x", "/run/vault/x", "/run/vault/apps.sock", "/usr/x"]:
            try:
                os.remove(path) if path.endswith("sock") else open(path, "w")
                print("wrote", path)
            except OSError:
                pass
        print("environment", sorted(os.environ))
        print("sockets", sorted(n for n in os.listdir("/run/vault") if n.endswith("sock")))
        """, vault, "\(app.place.server.port)",
      ], ["PATH": "/usr/bin:/bin", "SECRET": "x"])
    #expect(ended.status == 0, "\(ended.text)")
    #expect(
      ended.text == """
        caps {'0000000000000000'}
        privileges 1
        root False
        files ['app', 'bin', 'dev', 'lib', 'lib64', 'proc', 'run', 'usr']
        vault False
        processes True
        networks ['lo']
        provider True
        environment ['LC_CTYPE', 'PATH', 'PWD', 'VAULT_APPS_SOCKET', 'VAULT_APP_KEY_FILE']
        sockets ['apps.sock']

        """, "\(ended.text)")
  }
}
