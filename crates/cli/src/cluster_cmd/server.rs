//! [`ControlServer`]: the other end of the control socket.

use std::{path::Path, sync::Arc};

use milena_broker::{EmbeddedCluster, FsyncPolicy};
use tokio::task::JoinHandle;

use super::control::Place;

/// Does what is said on the socket until it is dropped.
#[derive(Debug)]
pub(crate) struct ControlServer {
    task: JoinHandle<()>,
    _place: Place,
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(unix)]
impl ControlServer {
    /// Listens.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn start(
        dir: &Path,
        cluster: &Arc<EmbeddedCluster>,
        fsync: FsyncPolicy,
    ) -> std::io::Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;

        let place = Place::make(dir)?;
        let listener = tokio::net::UnixListener::bind(&place.socket)?;
        std::fs::set_permissions(&place.socket, std::fs::Permissions::from_mode(0o600))?;
        let task = tokio::spawn(unix::serve(listener, Arc::downgrade(cluster), fsync));
        Ok(Self { task, _place: place })
    }
}

#[cfg(not(unix))]
impl ControlServer {
    /// There is no socket to listen on.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn start(_: &Path, _: &Arc<EmbeddedCluster>, _: FsyncPolicy) -> std::io::Result<Self> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[cfg(unix)]
mod unix {
    use std::{
        io,
        sync::{Arc, Weak},
        time::Duration,
    };

    use milena_broker::{EmbeddedCluster, FaultGuard, FsyncPolicy, Intercept, InterceptAction};
    use tokio::{
        io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
        net::{UnixListener, UnixStream},
        task::JoinSet,
    };

    use crate::{
        args::{ActionArg, ClusterCommand, intercepted_api},
        cluster_cmd::control::{Answer, Broker},
    };

    /// Far more than any command has.
    const MAX_LINE: u64 = 64 * 1024;

    /// What `fsync-fails` is told where nothing is synced.
    const NO_FSYNC: &str = "the brokers run with --fsync os, which never syncs before it acknowledges: the fault shows \
                            only when a segment is full or a broker stops; start them with --fsync every-batch, or \
                            interval=MS, to see it";

    pub(super) async fn serve(listener: UnixListener, cluster: Weak<EmbeddedCluster>, fsync: FsyncPolicy) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(converse(stream, cluster.clone(), fsync));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the control socket does not accept");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }

    async fn converse(
        stream: UnixStream,
        cluster: Weak<EmbeddedCluster>,
        fsync: FsyncPolicy,
    ) -> io::Result<()> {
        let (read, mut write) = stream.into_split();
        let mut read = BufReader::new(read);
        loop {
            let mut line = String::new();
            if (&mut read).take(MAX_LINE).read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let Some(cluster) = cluster.upgrade() else { return Ok(()) };
            let answer = match serde_json::from_str(&line) {
                Ok(command) => {
                    let is_unseen =
                        fsync == FsyncPolicy::Os && matches!(command, ClusterCommand::FsyncFails { .. });
                    let note = is_unseen.then(|| NO_FSYNC.to_owned());
                    obey(&cluster, command).await.map(|answer| Answer { note, ..answer })
                }
                Err(error) => Err(format!("not a command: {error}")),
            };
            drop(cluster);
            let answer = answer.unwrap_or_else(|error| Answer { error: Some(error), ..Answer::default() });
            let mut answer = serde_json::to_string(&Answer { ok: answer.error.is_none(), ..answer })?;
            answer.push('\n');
            write.write_all(answer.as_bytes()).await?;
        }
    }

    async fn obey(cluster: &Arc<EmbeddedCluster>, command: ClusterCommand) -> Result<Answer, String> {
        use ClusterCommand as Command;
        let millis = Duration::from_millis;
        let done = match command {
            Command::Status { .. } => {
                return Ok(Answer { brokers: status(cluster), ..Answer::default() });
            }
            Command::Kill { broker } => cluster.kill(broker),
            Command::Stop { broker } => cluster.stop(broker).await,
            Command::Restart { broker } => cluster.restart(broker).await,
            Command::Pause { broker } => cluster.pause(broker),
            Command::Resume { broker } => cluster.resume(broker),
            Command::Heal { broker: Some(broker) } => cluster.heal(broker),
            Command::Heal { broker: None } => {
                cluster.heal_all();
                Ok(())
            }
            Command::BlackHole { broker } => cluster.black_hole(broker).map(FaultGuard::keep),
            Command::Partition { a, b, one_way: false } => cluster.partition(a, b).map(FaultGuard::keep),
            Command::Partition { a, b, one_way: true } => {
                cluster.partition_one_way(a, b).map(FaultGuard::keep)
            }
            Command::PartitionClients { broker } => cluster.partition_clients(broker).map(FaultGuard::keep),
            Command::Delay { broker, ms } => cluster.delay(broker, millis(ms)).map(FaultGuard::keep),
            Command::Throttle { broker, bytes_per_second } => {
                cluster.throttle(broker, bytes_per_second).map(FaultGuard::keep)
            }
            Command::DiskFull { broker } => cluster.disk_full(broker).map(FaultGuard::keep),
            Command::FsyncFails { broker } => cluster.fsync_fails(broker).map(FaultGuard::keep),
            Command::SlowDisk { broker, ms } => cluster.slow_disk(broker, millis(ms)).map(FaultGuard::keep),
            Command::ClockSkew { broker, ms } => cluster.clock_skew(broker, ms).map(FaultGuard::keep),
            Command::Intercept { api, action, client_id, broker, times } => {
                let mut intercept = Intercept::on(intercepted_api(&api)?);
                if let Some(id) = client_id {
                    intercept = intercept.client_id(id);
                }
                if let Some(id) = broker {
                    intercept = intercept.broker(id);
                }
                if let Some(times) = times {
                    intercept = intercept.times(times);
                }
                let action = match ActionArg::parse(&action)? {
                    ActionArg::Error(code) => InterceptAction::error(code),
                    ActionArg::Delay(ms) => InterceptAction::delay(millis(ms)),
                    ActionArg::LoseRequest => InterceptAction::lose_request(),
                    ActionArg::LoseAnswer => InterceptAction::lose_answer(),
                    ActionArg::Disconnect => InterceptAction::disconnect(),
                };
                cluster.intercept(intercept, action).map(FaultGuard::keep)
            }
        };
        done.map(|()| Answer::default()).map_err(|error| error.to_string())
    }

    fn status(cluster: &EmbeddedCluster) -> Vec<Broker> {
        let brokers = cluster.status().into_iter().map(|broker| Broker {
            broker: broker.id,
            address: broker.bootstrap,
            state: broker.state.to_string(),
            controller: broker.is_controller,
            leads: broker.leads,
            faults: broker.faults,
        });
        brokers.collect()
    }
}
