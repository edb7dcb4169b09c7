// Feeds known metrics to Telegraf's OpenTSDB output as Telegraf's agent does: a batch each half second, and
// again when the output says that it failed. Standard output has one JSON object for each number fed that the
// output can send.
//
//	telegraf_feed tcp://127.0.0.1 PORT SECONDS
//	telegraf_feed http://127.0.0.1 PORT SECONDS
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/outputs/opentsdb"
)

const (
	batchInterval = 500 * time.Millisecond
	hosts         = 25
	httpBatch     = 50 // numbers of one request, as Telegraf's own example has it
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
				"state":  "running",
				"absent": math.NaN(),
			}, at))
	}
	return out
}

func tell(out *json.Encoder, batch []telegraf.Metric) {
	for _, m := range batch {
		for _, field := range m.FieldList() {
			var text, kind string
			switch value := field.Value.(type) {
			case int64:
				text, kind = strconv.FormatInt(value, 10), "int"
			case uint64:
				text, kind = strconv.FormatUint(value, 10), "int"
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
	way, _, _ := strings.Cut(os.Args[1], ":") // of each way metrics of its own
	output := &opentsdb.OpenTSDB{Prefix: "telegraf." + way + ".", Host: os.Args[1], Port: port, HTTPBatchSize: httpBatch,
		HTTPPath: "/api/put", Separator: "_", Log: words{}}
	for output.Connect() != nil {
		time.Sleep(batchInterval)
	}
	fed := json.NewEncoder(os.Stdout)
	first := time.Now().Add(-time.Hour)
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
