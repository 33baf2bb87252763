"""kafka-python as the tests need it: produces the numbers that it is told, or prints what a group consumes.

client.py produce BOOTSTRAP TOPIC: each line of the input is a number; it goes to partition number % 3, and once it is acknowledged,
"acked PARTITION OFFSET NUMBER" is printed.
client.py consume BOOTSTRAP TOPIC GROUP: prints "consumed PARTITION OFFSET NUMBER" until its input ends, and commits.
"""

import sys
import threading

from kafka import KafkaConsumer, KafkaProducer


def say(*words):
    print(*words, flush=True)


def produce(bootstrap, topic):
    producer = KafkaProducer(
        bootstrap_servers=bootstrap.split(","),
        acks="all",
        enable_idempotence=True,
        delivery_timeout_ms=300_000,
        max_block_ms=300_000,
    )
    failed = []

    def acknowledged(number):
        return lambda placed: say("acked", placed.partition, placed.offset, number)

    for line in sys.stdin:
        number = line.strip()
        future = producer.send(topic, number.encode(), partition=int(number) % 3)
        future.add_callback(acknowledged(number))
        future.add_errback(failed.append)
    producer.flush(timeout=300)
    producer.close()
    if failed:
        sys.exit(f"{len(failed)} failed: {failed[0]!r}")


def consume(bootstrap, topic, group):
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap.split(","),
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        # Some at a time, so that there is a middle.
        max_poll_records=100,
    )
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    while not over.is_set():
        for records in consumer.poll(timeout_ms=200).values():
            for record in records:
                say("consumed", record.partition, record.offset, record.value.decode())
        try:
            consumer.commit()
        except Exception as error:  # A group that is moving: what was consumed comes again.
            print(f"not committed: {error!r}", file=sys.stderr, flush=True)
    consumer.close(autocommit=False)


if __name__ == "__main__":
    {"produce": produce, "consume": consume}[sys.argv[1]](*sys.argv[2:])
