"""dsafuzz on several machines: what scripts/cluster is made of. scripts/CLUSTER.md says how it works and what it costs.

`plan` says who searches what; `worker_set` runs one slice of it on a node; `campaign_folder` reads and writes output
folders; `bundle` is what goes between machines; `exchange` is how it goes; `collector` keeps it on the driver's disk;
`driver` hands the work to Ray; `command` is the command line.
"""
