// franz-go as the tests need it: produces the numbers that it is told, or prints what a group consumes.
//
// client produce BOOTSTRAP TOPIC: each line of the input is a number; it goes to partition number % 3, and once it is acknowledged,
// "acked PARTITION OFFSET NUMBER" is printed.
// client consume BOOTSTRAP TOPIC GROUP: prints "consumed PARTITION OFFSET NUMBER" until its input ends, and commits.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	mode, bootstrap, topic := os.Args[1], strings.Split(os.Args[2], ","), os.Args[3]
	var err error
	if mode == "produce" {
		err = produce(bootstrap, topic)
	} else {
		err = consume(bootstrap, topic, os.Args[4])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func produce(bootstrap []string, topic string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RecordDeliveryTimeout(5*time.Minute),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	failures := make(chan error, 1)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		number, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		record := &kgo.Record{Topic: topic, Partition: int32(number % 3), Value: []byte(lines.Text())}
		client.Produce(context.Background(), record, func(placed *kgo.Record, err error) {
			if err != nil {
				select {
				case failures <- err:
				default:
				}
				return
			}
			fmt.Printf("acked %d %d %s\n", placed.Partition, placed.Offset, placed.Value)
		})
	}
	if err := client.Flush(context.Background()); err != nil {
		return err
	}
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

func consume(bootstrap []string, topic, group string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap...),
		kgo.ConsumeTopics(topic),
		kgo.ConsumerGroup(group),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	over, end := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		end()
	}()
	for over.Err() == nil {
		fetches := client.PollRecords(over, 100)
		fetches.EachRecord(func(record *kgo.Record) {
			fmt.Printf("consumed %d %d %s\n", record.Partition, record.Offset, record.Value)
		})
		if err := client.CommitUncommittedOffsets(over); err != nil && over.Err() == nil {
			// A group that is moving: what was consumed comes again.
			fmt.Fprintln(os.Stderr, "not committed:", err)
		}
	}
	return nil
}
