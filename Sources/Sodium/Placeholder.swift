import CSodium
package enum SodiumX { package static func f() -> Int32 { sodium_init() } }
