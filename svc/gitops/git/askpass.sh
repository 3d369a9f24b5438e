#!/bin/sh
# Answers git's question for a password with one line of the pipe that this process has inherited.
IFS= read -r answer <"/dev/fd/$SVC_GIT_TOKEN_FD" && printf '%s\n' "$answer"
