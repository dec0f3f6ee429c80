import AccountVault
package enum CommandPlaceholder {}
