"""The replica: how blobs get to another place, stay there, and are deleted there."""
