"""Magics and shell escapes that would change things."""

!touch @COURSE@/touched
%system touch @COURSE@/touched
found = !cat @COURSE@/gradebook.db
%cd @COURSE@
print(found)

def softmax(x):
    return x
