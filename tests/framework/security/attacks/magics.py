"""IPython magics and shell commands that change and read files."""

!touch @COURSE@/touched
%system touch @COURSE@/touched
found = !cat @COURSE@/gradebook.db
%cd @COURSE@
print(found)

def softmax(x):
    return x
