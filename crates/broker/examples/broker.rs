//! Starts a broker on a directory, prints where it listens, and stops it in order on the end of standard input.
//!
//! `cargo run -p milena-broker --example broker -- DIR [PORT] [every-batch|os|MILLISECONDS]`

use std::io::{Read, Write};
use std::time::Duration;

use milena_broker::{Broker, BrokerConfig, FsyncPolicy, ListenerConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("name a data directory")?;
    let port = arguments.next().map(|port| port.parse()).transpose()?.unwrap_or(0);
    let fsync = match arguments.next().as_deref() {
        None | Some("os") => FsyncPolicy::Os,
        Some("every-batch") => FsyncPolicy::EveryBatch,
        Some(millis) => FsyncPolicy::Interval(Duration::from_millis(millis.parse()?)),
    };
    let config =
        BrokerConfig { listeners: vec![ListenerConfig::loopback(port)], fsync, ..BrokerConfig::new(dir) };

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let broker = runtime.block_on(Broker::start(config))?;
    writeln!(std::io::stdout(), "{}", broker.bootstrap())?;

    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest)?;
    runtime.block_on(broker.shutdown())?;
    Ok(())
}
