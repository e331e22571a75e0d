"""Other people's worlds: each module speaks to the one library it is named after, and imports no other."""
