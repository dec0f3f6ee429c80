import Command
import Glibc
import NetworkCommand

exit(await NetworkCommand.run(.ofThisProcess()).code)
