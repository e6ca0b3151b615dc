"""Files of crawls read into captures: WARC, ARC, WAT, JSON lines, HTTP; and WARC written."""
