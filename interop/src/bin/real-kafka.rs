//! `cargo run -p milena-interop --bin real-kafka -- [N] [key=value …]`: a real Apache Kafka of N brokers until the end of the input
//! (Ctrl-D, Ctrl-C), to try things against. Prints the bootstrap list.

use std::io::{Read as _, Write as _};

use anyhow::{Context as _, Result};
use milena_interop::RealKafka;

fn main() -> Result<()> {
    let mut builder = RealKafka::builder().jvm(&["-Xmx512m"]);
    for argument in std::env::args().skip(1) {
        builder = match argument.split_once('=') {
            Some((key, value)) => builder.property(key, value),
            None => builder.brokers(
                argument
                    .parse()
                    .with_context(|| format!("`{argument}` is neither a number nor key=value"))?,
            ),
        };
    }
    let kafka = builder.start()?;
    writeln!(std::io::stdout(), "{}", kafka.bootstrap()).context("printing the bootstrap list")?;
    std::io::stdin().read_to_end(&mut Vec::new()).context("waiting for the end of the input")?;
    Ok(())
}
