package enum ProvidersX { package static func f() -> Int { PackageResources.facebook_json.count } }
