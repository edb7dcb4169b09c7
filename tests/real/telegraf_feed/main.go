// Feeds known metrics to one of Telegraf's outputs as Telegraf's agent does: a batch each half second, and again when
// the output says that it failed. Standard output has one JSON object for each number or flag fed.
//
//	telegraf_feed opentsdb-lines|opentsdb-http|influxdb|influxdb_v2 PORT SECONDS
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/outputs"
	"github.com/influxdata/telegraf/plugins/outputs/influxdb"
	"github.com/influxdata/telegraf/plugins/outputs/influxdb_v2"
	"github.com/influxdata/telegraf/plugins/outputs/opentsdb"
)

const (
	batchInterval = 500 * time.Millisecond
	hosts         = 25
	httpBatch     = 50 // numbers of one request of the output opentsdb, as Telegraf's own example has it
)

// words goes to standard error whatever its level.
type words struct{}

func say(format string, args ...interface{})            { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (words) Errorf(format string, args ...interface{}) { say(format, args...) }
func (words) Error(args ...interface{})                 { say("%s", fmt.Sprint(args...)) }
func (words) Debugf(string, ...interface{})             {}
func (words) Debug(...interface{})                      {}
func (words) Warnf(format string, args ...interface{})  { say(format, args...) }
func (words) Warn(args ...interface{})                  { say("%s", fmt.Sprint(args...)) }
func (words) Infof(string, ...interface{})              {}
func (words) Info(...interface{})                       {}

func makeOutput(way string, port int) telegraf.Output {
	url := "http://127.0.0.1:" + strconv.Itoa(port)
	switch way {
	case "opentsdb-lines", "opentsdb-http":
		host := map[string]string{"opentsdb-lines": "tcp://127.0.0.1", "opentsdb-http": "http://127.0.0.1"}[way]
		return &opentsdb.OpenTSDB{Prefix: "telegraf.", Host: host, Port: port, HTTPBatchSize: httpBatch,
			HTTPPath: "/api/put", Separator: "_", Log: words{}}
	case "influxdb":
		output := outputs.Outputs["influxdb"]().(*influxdb.InfluxDB) // with its defaults: bodies are packed
		output.URLs, output.Database, output.Log = []string{url}, "telegraf", words{}
		return output
	case "influxdb_v2":
		output := outputs.Outputs["influxdb_v2"]().(*influxdb_v2.InfluxDB)
		output.URLs, output.Token, output.Organization, output.Bucket, output.Log = []string{url}, "t", "o", "telegraf", words{}
		return output
	}
	panic("no such output: " + way)
}

// Batch n, of a second of its own. The tag's value has characters that OpenTSDB does not know.
func batch(n int, at time.Time) []telegraf.Metric {
	var out []telegraf.Metric
	for host := 0; host < hosts; host++ {
		out = append(out, metric.New("feed",
			map[string]string{"host": fmt.Sprintf("web %d", host), "dc": "b1:north"},
			map[string]interface{}{
				"whole":  int64(n*1000 - host),
				"count":  uint64(1)<<62 + uint64(n),
				"half":   float64(n) + float64(host)/64,
				"small":  float64(n) / 3,
				"up":     n%2 == 0,
				"state":  "running, \"well\"",
				"absent": math.NaN(),
			}, at))
	}
	return out
}

// tell leaves out what no output sends, and texts.
func tell(out *json.Encoder, batch []telegraf.Metric) {
	for _, m := range batch {
		for _, field := range m.FieldList() {
			var text, kind string
			switch value := field.Value.(type) {
			case int64:
				text, kind = strconv.FormatInt(value, 10), "int"
			case uint64:
				text, kind = strconv.FormatUint(value, 10), "int"
			case bool:
				text, kind = map[bool]string{true: "1", false: "0"}[value], "flag"
			case float64:
				if math.IsNaN(value) {
					continue
				}
				text, kind = strconv.FormatFloat(value, 'g', -1, 64), "float"
			default:
				continue
			}
			host, _ := m.GetTag("host")
			fed := map[string]interface{}{
				"field": field.Key, "host": host, "time": m.Time().Unix(), "value": text, "kind": kind}
			if err := out.Encode(fed); err != nil {
				panic(err)
			}
		}
	}
}

func main() {
	port, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	seconds, err := strconv.ParseFloat(os.Args[3], 64)
	if err != nil {
		panic(err)
	}
	output := makeOutput(os.Args[1], port)
	for output.Connect() != nil {
		time.Sleep(batchInterval)
	}
	fed := json.NewEncoder(os.Stdout)
	first := time.Now().Truncate(time.Second).Add(-time.Hour)
	rounds := int(seconds * float64(time.Second) / float64(batchInterval))
	for n := 0; n < rounds; n++ {
		numbers := batch(n, first.Add(time.Duration(n)*time.Second))
		tell(fed, numbers)
		for {
			if err := output.Write(numbers); err == nil {
				break
			} else {
				say("again: %v", err)
			}
			time.Sleep(batchInterval)
		}
		time.Sleep(batchInterval)
	}
	if err := output.Close(); err != nil {
		panic(err)
	}
}
