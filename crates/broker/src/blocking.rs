//! Where work goes that waits for a disk.

use tokio::task::JoinError;

use crate::simulation;

/// Runs `work` on a thread where it stops nobody else. It runs to its end even if nobody waits for it any more.
///
/// # Errors
/// When the runtime is ending.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let delay = simulation::world().map(|(world, broker)| world.blocking_delay(broker));
    match delay {
        None => tokio::task::spawn_blocking(work).await,
        Some(delay) => {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Ok(work())
        }
    }
}
