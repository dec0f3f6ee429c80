import Command
import Glibc

exit(Command.run(.ofThisProcess()).code)
