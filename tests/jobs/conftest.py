"""The jobs are run as scripts and not collected."""

collect_ignore_glob = ["[!t]*.py"]
