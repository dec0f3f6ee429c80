import Command
print("hi")
