// Sends known samples with remote write 2.0, through the client library of Prometheus: a request each half second, and
// the library repeats a request that failed. Standard output has one JSON object for each sample that was sent.
//
//	remote_write_2_feed PORT SECONDS
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/exp/api/remote"
	writev2 "github.com/prometheus/client_golang/exp/api/remote/genproto/v2"
)

const (
	interval = 500 * time.Millisecond
	hosts    = 25
)

type sample struct {
	Metric string            `json:"metric"`
	Labels map[string]string `json:"labels"`
	Millis int64             `json:"millis"`
	Value  float64           `json:"value"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The samples of request n, which have a second of their own.
func batch(n int, at time.Time) []sample {
	var samples []sample
	for host := 0; host < hosts; host++ {
		labels := map[string]string{"instance": fmt.Sprintf("web %d:9100", host), "job": "node"}
		for i, value := range []float64{float64(n*1000 - host), float64(n) / 3, math.MaxFloat64 / float64(n+1)} {
			samples = append(samples, sample{fmt.Sprintf("feed_%d_total", i), labels, at.UnixMilli(), value})
		}
	}
	return samples
}

func request(samples []sample) *writev2.Request {
	symbols := writev2.NewSymbolTable()
	message := &writev2.Request{}
	for _, one := range samples {
		labels := []string{"__name__", one.Metric, "instance", one.Labels["instance"], "job", one.Labels["job"]}
		message.Timeseries = append(message.Timeseries, &writev2.TimeSeries{
			LabelsRefs: symbols.SymbolizeLabels(labels, nil),
			Metadata:   &writev2.Metadata{Type: writev2.Metadata_METRIC_TYPE_COUNTER, HelpRef: symbols.Symbolize("Fed by a test.")},
			Samples:    []*writev2.Sample{{Timestamp: one.Millis, Value: one.Value}},
		})
	}
	message.Symbols = symbols.Symbols()
	return message
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	check(err)
	api, err := remote.NewAPI("http://127.0.0.1:"+os.Args[1],
		remote.WithAPILogger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
		remote.WithAPIBackoff(remote.BackoffConfig{Min: 100 * time.Millisecond, Max: time.Second, MaxRetries: 60}))
	check(err)
	fed := json.NewEncoder(os.Stdout)
	first := time.Now().Truncate(time.Second).Add(-time.Hour)
	for n := 0; n < int(seconds*float64(time.Second)/float64(interval)); n++ {
		samples := batch(n, first.Add(time.Duration(n)*time.Second))
		written, err := api.Write(context.Background(), remote.WriteV2MessageType, request(samples))
		check(err)
		if written.Samples != len(samples) {
			check(fmt.Errorf("the response counts %d samples, %d were sent", written.Samples, len(samples)))
		}
		for _, one := range samples {
			check(fed.Encode(one))
		}
		time.Sleep(interval)
	}
}
