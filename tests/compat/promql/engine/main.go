// Completes PromQL cases with the results of Prometheus' own engine. Standard input has "load" blocks, "clear", and "eval"
// commands; expectations below an "eval" are dropped. Standard output has the same commands with the expectations that
// hold for this version of Prometheus, in the notation of promqltest.
package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
)

const (
	samplesMax = 5_000_000
	timeout    = 100 * time.Second
	lookback   = 5 * time.Minute
	lineMax    = 1 << 20
)

var (
	instant = regexp.MustCompile(`^eval(?:_\w+)? instant at (\S+)\s+(.+)$`)
	ranged  = regexp.MustCompile(`^eval(?:_\w+)? range from (\S+) to (\S+) step (\S+)\s+(.+)$`)
)

// data holds the samples of the "load" blocks since the last "clear".
type data struct {
	text  string
	store storage.Queryable
}

func millis(text string) time.Time {
	positive := strings.TrimPrefix(text, "-")
	duration, err := model.ParseDuration(positive)
	check(err)
	if positive != text {
		duration = -duration
	}
	return time.Unix(0, 0).Add(time.Duration(duration))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(value float64) string {
	if math.IsInf(value, 1) {
		return "Inf"
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

func name(of labels.Labels) string {
	var pairs []string
	of.Range(func(label labels.Label) { pairs = append(pairs, strconv.Quote(label.Name)+"="+strconv.Quote(label.Value)) })
	return "{" + strings.Join(pairs, ",") + "}"
}

// command evaluates an "eval" command and returns its expectations.
func command(engine *promql.Engine, store storage.Queryable, line string) []string {
	var query promql.Query
	var err error
	var start, end time.Time
	var step time.Duration
	var text string
	if parts := instant.FindStringSubmatch(line); parts != nil {
		start, text = millis(parts[1]), parts[2]
		end = start
		query, err = engine.NewInstantQuery(context.Background(), store, nil, text, start)
	} else if parts := ranged.FindStringSubmatch(line); parts != nil {
		start, end, text = millis(parts[1]), millis(parts[2]), parts[4]
		step = millis(parts[3]).Sub(time.Unix(0, 0))
		query, err = engine.NewRangeQuery(context.Background(), store, nil, text, start, end, step)
	} else {
		check(fmt.Errorf("unknown command: %s", line))
	}
	if err != nil {
		return []string{"expect fail"}
	}
	defer query.Close()
	result := query.Exec(context.Background())
	if result.Err != nil {
		return []string{"expect fail"}
	}
	// Whether there are remarks is compared, but not their texts.
	warnings, infos := result.Warnings.AsStrings(text, 0, 0)
	lines := []string{"expect no_warn", "expect no_info"}
	if len(warnings) > 0 {
		lines[0] = "expect warn"
	}
	if len(infos) > 0 {
		lines[1] = "expect info"
	}
	switch value := result.Value.(type) {
	case promql.Scalar:
		lines = append(lines, number(value.V))
	case promql.String:
		lines = append(lines, "expect string "+strconv.Quote(value.V))
	case promql.Vector:
		if strings.HasPrefix(text, "sort") {
			lines = append(lines, "expect ordered")
		}
		for _, sample := range value {
			lines = append(lines, name(sample.Metric)+" "+number(sample.F))
		}
	case promql.Matrix:
		if step == 0 { // a range vector, whose samples have times of their own
			return nil
		}
		for _, series := range value {
			words, next := []string{name(series.Metric)}, 0
			for at := start; !at.After(end); at = at.Add(step) {
				word := "_"
				if next < len(series.Floats) && series.Floats[next].T == at.UnixMilli() {
					word = number(series.Floats[next].F)
					next++
				}
				words = append(words, word)
			}
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return lines
}

// complete is a test because promqltest reports failures of its storage to a test.
func complete(t *testing.T) {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: samplesMax, Timeout: timeout, LookbackDelta: lookback,
		Parser: parser.NewParser(parser.Options{}), EnableAtModifier: true, EnableNegativeOffset: true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Minute.Milliseconds() }})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, lineMax)
	out := bufio.NewWriter(os.Stdout)
	var loaded data
	inLoad := false
	for in.Scan() {
		line := in.Text()
		indented := strings.TrimLeft(line, " \t") != line && strings.TrimSpace(line) != ""
		switch {
		case strings.HasPrefix(line, "load"), indented && inLoad:
			loaded.text, loaded.store, inLoad = loaded.text+line+"\n", nil, true
			fmt.Fprintln(out, line)
		case strings.HasPrefix(line, "clear"):
			loaded, inLoad = data{}, false
			fmt.Fprintln(out, "\n"+line)
		case strings.HasPrefix(line, "eval"):
			if loaded.store == nil {
				loaded.store = promqltest.LoadedStorage(t, loaded.text)
			}
			inLoad = false
			if lines := command(engine, loaded.store, line); lines != nil {
				fmt.Fprintf(out, "\n%s\n  %s\n", line, strings.Join(lines, "\n  "))
			}
		case !indented:
			inLoad = false
		}
	}
	check(in.Err())
	check(out.Flush())
	os.Exit(0) // otherwise a word about the test would follow the cases
}

func main() {
	testing.Main(func(_, _ string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "engine", F: complete}}, nil, nil)
}
