module hourglass/tests/real/telegraf_feed

go 1.19

require github.com/influxdata/telegraf v1.24.4
