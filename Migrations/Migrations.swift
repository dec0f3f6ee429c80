package enum Migration { package static let m1 = PackageResources.m0001_vault_sql }
