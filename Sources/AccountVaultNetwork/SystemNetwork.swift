// The network of a vault: transport, signatures by libcrypto, listener, browser.
