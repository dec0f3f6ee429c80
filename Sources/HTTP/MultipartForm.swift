internal import CCurl
internal import Glibc
internal import HTTPTypes
internal import Sodium

/// A `multipart/form-data` body in libcurl's form. Its parts are read while they are sent.
@safe final class MultipartForm {
  /// Owned.
  let mime: OpaquePointer
  private let sources: [PartSource]

  /// - Parameter handle: The transfer's; the form must be freed before it is.
  /// - Throws: ``HTTPFailure/Kind/file`` where a file cannot be read.
  init(
    _ parts: [HTTPBody.Part], _ handle: UnsafeMutableRawPointer
  ) throws(HTTPFailure) {
    guard let mime = unsafe curl_mime_init(handle) else { fatalError("no memory for a body") }
    var sources: [PartSource] = []
    var problem: HTTPFailure?
    for part in parts {
      do throws(HTTPFailure) {
        let source = try PartSource(part.content)
        sources.append(source)
        try unsafe Self.add(part, source, to: mime)
      } catch {
        problem = error
        break
      }
    }
    if let problem {
      unsafe curl_mime_free(mime)
      throw problem
    }
    unsafe self.mime = mime
    self.sources = sources
  }

  deinit {
    unsafe curl_mime_free(mime)
  }

  /// The file that could not be read to its end.
  var failedFile: String? { sources.first { $0.hasFailed }?.path }

  private static func add(
    _ part: HTTPBody.Part, _ source: PartSource, to mime: OpaquePointer
  ) throws(HTTPFailure) {
    let texts = [part.name, part.fileName ?? "", part.contentType ?? ""]
    guard
      texts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
    else {
      throw .badRequest("a part of the form has a name or type with control characters")
    }
    guard let place = unsafe curl_mime_addpart(mime) else { fatalError("no memory for a part") }
    var codes = unsafe [
      curl_mime_name(place, part.name),
      // The form keeps the source longer than libcurl reads it.
      curl_mime_data_cb(
        place, curl_off_t(source.size),
        { buffer, size, count, source in
          guard let buffer = unsafe buffer, let source = unsafe source else { return 0 }
          return unsafe Unmanaged<PartSource>.fromOpaque(source).takeUnretainedValue()
            .read(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        },
        { source, offset, origin in
          guard let source = unsafe source, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
          return unsafe Unmanaged<PartSource>.fromOpaque(source).takeUnretainedValue()
            .seek(Int64(offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
        },
        nil, Unmanaged.passUnretained(source).toOpaque()),
    ]
    if let name = part.fileName { unsafe codes.append(curl_mime_filename(place, name)) }
    if let type = part.contentType { unsafe codes.append(curl_mime_type(place, type)) }
    guard codes.allSatisfy({ $0 == CURLE_OK }) else { fatalError("no memory for a part") }
  }
}

/// Where the bytes of a part come from: memory, or a file that is open while the request runs.
final class PartSource {
  private enum Content {
    case bytes(SharedSecret)
    case file(Int32)
  }

  private let content: Content
  let path: String?
  let size: Int64
  private var offset: Int64 = 0
  private(set) var hasFailed = false

  init(_ content: HTTPBody.Part.Content) throws(HTTPFailure) {
    switch content {
    case .bytes(let bytes):
      self.content = .bytes(bytes)
      path = nil
      size = Int64(bytes.count)
    case .file(let path):
      // What is no file, such as a pipe, could let the thread wait for ever.
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      guard descriptor >= 0 else {
        throw HTTPFailure(
          .file, "\(path): \(unsafe String(cString: strerror(errno)))", mayHaveBeenSent: false)
      }
      var facts = stat()
      guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
        close(descriptor)
        throw HTTPFailure(.file, "\(path): no file with a size", mayHaveBeenSent: false)
      }
      self.content = .file(descriptor)
      self.path = path
      size = Int64(facts.st_size)
    }
  }

  deinit {
    if case .file(let descriptor) = content { close(descriptor) }
  }

  /// The next bytes; none at the end. A file that became shorter ends the transfer.
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    let wanted = Int(min(Int64(buffer.count), size - offset))
    guard wanted > 0, let start = buffer.baseAddress else { return 0 }
    switch content {
    case .bytes(let bytes):
      bytes.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { bytes in
          let from = Int(offset)
          unsafe start.copyMemory(from: bytes.baseAddress! + from, byteCount: wanted)
        }
      }
      offset += Int64(wanted)
      return wanted
    case .file(let descriptor):
      var got: Int
      repeat {
        got = unsafe pread(descriptor, start, wanted, off_t(offset))
      } while got < 0 && errno == EINTR
      guard got > 0 else {
        hasFailed = true
        return Int(CURL_READFUNC_ABORT)
      }
      offset += Int64(got)
      return got
    }
  }

  func seek(_ place: Int64) -> Bool {
    guard (0...size).contains(place) else { return false }
    offset = place
    return true
  }
}
