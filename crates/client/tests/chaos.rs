//! A short round of `examples/chaos`, which is made for ten minutes: trouble, peace, and everything read back.

#[path = "../examples/chaos/records.rs"]
mod records;
#[path = "../examples/chaos/round.rs"]
mod round;
#[path = "../examples/chaos/trouble.rs"]
mod trouble;

use std::time::Duration;

type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_in_trouble_is_there_once_and_in_order() -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let cluster = round::cluster(folder.path()).await?;
    let (totals, failures) = round::play(&cluster, folder.path(), 0, 1, Duration::from_secs(4)).await?;
    assert!(totals.troubles > 0 && totals.acknowledged > 0, "{totals}");
    assert!(totals.read >= totals.acknowledged && totals.sent >= totals.read, "{totals}");
    assert_eq!(totals.failed, 0, "{failures:?}");
    Ok(())
}
