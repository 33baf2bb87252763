// kafkajs as the tests need it: produces the numbers that it is told, or prints what a group consumes.
//
// client.js produce BOOTSTRAP TOPIC: each line of the input is a number; it goes to partition number % 3, and once it is acknowledged,
// "acked PARTITION OFFSET NUMBER" is printed.
// client.js consume BOOTSTRAP TOPIC GROUP: prints "consumed PARTITION OFFSET NUMBER" until its input ends, and commits.

const readline = require('readline')
const { Kafka, logLevel } = require('kafkajs')

const [mode, bootstrap, topic, groupId] = process.argv.slice(2)
const kafka = new Kafka({
  brokers: bootstrap.split(','),
  logLevel: logLevel.ERROR,
  retry: { initialRetryTime: 50, maxRetryTime: 1000, retries: 300 },
})

async function produce() {
  // It keeps the order of an idempotent producer only with one request at a time.
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false })
  await producer.connect()
  let waiting = []
  const partitionOf = (number) => Number(number) % 3
  const send = async () => {
    let numbers = waiting
    waiting = []
    // A partition whose leader moves to a broker that has answered already is left out, of the request and of the answer.
    while (numbers.length > 0) {
      const messages = numbers.map((number) => ({ value: number, partition: partitionOf(number) }))
      for (const { partition, baseOffset } of await producer.send({ topic, acks: -1, messages })) {
        const there = numbers.filter((number) => partitionOf(number) === partition)
        there.forEach((number, at) => console.log(`acked ${partition} ${BigInt(baseOffset) + BigInt(at)} ${number}`))
        numbers = numbers.filter((number) => partitionOf(number) !== partition)
      }
    }
  }
  for await (const line of readline.createInterface({ input: process.stdin })) {
    waiting.push(line.trim())
    if (waiting.length === 50) await send()
  }
  if (waiting.length > 0) await send()
  await producer.disconnect()
}

async function consume() {
  const consumer = kafka.consumer({ groupId, retry: { retries: 300 } })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) => console.log(`consumed ${partition} ${message.offset} ${message.value}`),
  })
  for await (const _ of process.stdin);
  await consumer.disconnect()
}

;({ produce, consume })[mode]().catch((error) => {
  console.error(error)
  process.exit(1)
})
