"""Every encoder with several losses on the job-title tests."""
