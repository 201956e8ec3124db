"""What `manage.py doctor` looks at, as far as repositories go; readers and search add theirs.

Each examination yields findings. It changes nothing; a finding brings its repair along, which
is safe beside a running instance: what needs a repository's lease is queued as a job.
"""

from repos.doctor.finding import Finding

__all__ = ["Finding"]
