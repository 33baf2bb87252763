//! kcat, and with it librdkafka.

use anyhow::{Result, ensure};
use milena::NewTopic;
use milena_interop::{Output, tools};

use crate::broker;
use crate::support::{CODECS, create_topic};

#[tokio::test(flavor = "multi_thread")]
async fn kcat_lists_produces_and_consumes_with_every_codec() -> Result<()> {
    let (broker, _folder) = broker().await?;
    let bootstrap = broker.bootstrap();
    create_topic(&bootstrap, NewTopic { partitions: 2, ..NewTopic::new("cats") }).await?;
    let mut wanted = String::new();
    for (number, codec) in CODECS.iter().enumerate() {
        let headers = ["-H", "a=1", "-H", &format!("codec={codec}"), "-H", "a=2"];
        let produce = ["-P", "-t", "cats", "-p", "1", "-z", codec, "-Z", "-K", ":"];
        // A key and a value, a null value, a null key, and enough of the same to be worth compressing.
        let more: String = (0..500).map(|number| format!("k{number}:{codec} {number}\n")).collect();
        let lines = format!("key:value\ntombstone:\n:no key\n{more}");
        let Some(_) = kcat(&bootstrap, &[&produce[..], &headers].concat(), lines.as_bytes())? else {
            return Ok(());
        };
        let of = |offset: usize| number * 503 + offset;
        let all = format!("a=1,codec={codec},a=2");
        wanted += &format!("{} 3 key 5 value {all}\n", of(0));
        wanted += &format!("{} 9 tombstone -1 NULL {all}\n", of(1));
        wanted += &format!("{} -1 NULL 6 no key {all}\n", of(2));
        for number in 0..500 {
            let (key, value) = (format!("k{number}"), format!("{codec} {number}"));
            wanted += &format!("{} {} {key} {} {value} {all}\n", of(3 + number), key.len(), value.len());
        }
    }
    let consume = ["-C", "-t", "cats", "-o", "beginning", "-e", "-q", "-Z"];
    let read = kcat(&bootstrap, &[&consume[..], &["-f", r"%o %K %k %S %s %h\n"]].concat(), b"")?;
    ensure!(read.as_deref() == Some(&*wanted), "not what was produced: {}", read.unwrap_or_default());

    let listed = kcat(&bootstrap, &["-L"], b"")?.unwrap_or_default();
    let brokers = format!("broker 1 at {bootstrap} (controller)");
    for wanted in
        [&*brokers, "topic \"cats\" with 2 partitions:", "partition 1, leader 1, replicas: 1, isrs: 1"]
    {
        ensure!(listed.contains(wanted), "no {wanted} in {listed}");
    }
    let end = kcat(&bootstrap, &["-Q", "-t", "cats:1:-1"], b"")?.unwrap_or_default();
    assert_eq!(end.trim(), "cats [1] offset 2515");
    let last = ["-C", "-t", "cats", "-p", "1", "-o", "-1", "-e", "-q"];
    assert_eq!(kcat(&bootstrap, &last, b"")?.as_deref(), Some("zstd 499\n"));
    broker.shutdown().await?;
    Ok(())
}

fn kcat(bootstrap: &str, arguments: &[&str], stdin: &[u8]) -> Result<Option<String>> {
    let output = tools::kcat(&[&["-b", bootstrap], arguments].concat(), stdin)?;
    output.map(Output::text).transpose()
}
