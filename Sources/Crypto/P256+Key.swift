internal import CCrypto

extension P256 {
  /// libcrypto's name of the curve.
  static let group = "prime256v1"

  /// Bytes of an uncompressed point: 4, x, y.
  static let pointCount = 65

  /// The public point of any EC key, uncompressed; nil where it lies on another curve.
  static func point(of key: OpaquePointer) -> [UInt8]? {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard
      unsafe EVP_PKEY_get_utf8_string_param(
        key, OSSL_PKEY_PARAM_GROUP_NAME, &name, name.count, &length) == 1,
      name.prefix(length).elementsEqual(group.utf8.map { CChar(bitPattern: $0) })
    else { return nil }
    var x: OpaquePointer?
    var y: OpaquePointer?
    // Both are made for us.
    defer {
      unsafe BN_free(x)
      unsafe BN_free(y)
    }
    guard unsafe EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_X, &x) == 1,
      unsafe EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_Y, &y) == 1
    else { return nil }
    var point = [UInt8](repeating: 4, count: pointCount)
    let isWritten = unsafe point.withUnsafeMutableBufferPointer { point in
      let start = point.baseAddress!
      return unsafe BN_bn2binpad(x, start + 1, 32) == 32 && BN_bn2binpad(y, start + 33, 32) == 32
    }
    return isWritten ? point : nil
  }

  /// Makes a key of a public point and, for a pair, the private number.
  ///
  /// The caller owns the key. libcrypto copies what the parameters point to during the call.
  static func key(
    _ selection: Int32, _ point: [UInt8], _ privateNumber: OSSL_PARAM?
  ) -> OpaquePointer? {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var point = point
    var name = group.utf8CString
    return unsafe name.withUnsafeMutableBufferPointer { name -> OpaquePointer? in
      unsafe point.withUnsafeMutableBytes { point -> OpaquePointer? in
        var parameters = unsafe [
          ccrypto_group(name.baseAddress),
          ccrypto_public_point(point.baseAddress, point.count),
        ]
        if let privateNumber = unsafe privateNumber { unsafe parameters.append(privateNumber) }
        unsafe parameters.append(OSSL_PARAM_construct_end())
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
          unsafe EVP_PKEY_fromdata(context, &key, selection, &parameters) == 1
        else { return nil }
        return unsafe key
      }
    }
  }
}
