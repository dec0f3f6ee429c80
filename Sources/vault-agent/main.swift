import Agent
import Command
import Glibc

exit(await Agent.run(.ofThisProcess()).code)
