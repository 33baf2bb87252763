//! [`TaskGate`]: all tasks of one broker, which can be held where they are.

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::simulation::Running;

/// What a broker's tasks go through to run: while it is closed none of them makes a step, as those of a process that was
/// stopped with SIGSTOP. Its sockets stay open, and the system goes on to accept connections and bytes for it. What is on
/// a blocking thread already comes to its end.
#[derive(Clone)]
pub(crate) struct TaskGate {
    runtime: Handle,
    state: Arc<State>,
    /// Whose tasks they are, where that is asked: in a simulation.
    broker: Option<i32>,
}

#[derive(Default)]
struct State {
    is_closed: AtomicBool,
    /// Of those who came to a closed gate.
    held: Mutex<Vec<Waker>>,
}

impl fmt::Debug for TaskGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskGate").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl TaskGate {
    /// An open one, to a runtime.
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { runtime, state: Arc::default(), broker: None }
    }

    /// That of a simulated broker.
    pub(crate) fn of_broker(self, broker: i32) -> Self {
        Self { broker: Some(broker), ..self }
    }

    /// Spawns a task.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.runtime.spawn(self.guard(task))
    }

    /// A task that somebody else spawns.
    pub(crate) fn guard<F: Future + Send>(&self, task: F) -> impl Future<Output = F::Output> + Send + use<F> {
        let (state, broker, mut task) = (self.state.clone(), self.broker, Box::pin(task));
        poll_fn(move |context| {
            if state.holds(context) {
                return Poll::Pending;
            }
            let _running = broker.map(Running::new);
            task.as_mut().poll(context)
        })
    }

    pub(crate) fn close(&self) {
        self.state.is_closed.store(true, Ordering::Release);
    }

    pub(crate) fn open(&self) {
        let held = {
            let mut held = self.state.held.lock();
            self.state.is_closed.store(false, Ordering::Release);
            std::mem::take(&mut *held)
        };
        held.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.is_closed.load(Ordering::Acquire)
    }
}

impl State {
    fn holds(&self, context: &Context<'_>) -> bool {
        if !self.is_closed.load(Ordering::Acquire) {
            return false;
        }
        let mut held = self.held.lock();
        // Under the lock, or the gate may open in between and nobody wakes this one.
        let is_closed = self.is_closed.load(Ordering::Acquire);
        if is_closed && !held.iter().any(|waker| waker.will_wake(context.waker())) {
            held.push(context.waker().clone());
        }
        is_closed
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn a_task_goes_on_where_it_was_held() {
        let gate = TaskGate::new(Handle::current());
        let (requests, mut inbox) = unbounded_channel::<u32>();
        let (answers, mut answered) = unbounded_channel();
        let task = gate.spawn(async move {
            while let Some(request) = inbox.recv().await {
                answers.send(request).unwrap();
            }
        });
        requests.send(1).unwrap();
        assert_eq!(answered.recv().await, Some(1));
        gate.close();
        requests.send(2).unwrap();
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(answered.try_recv().is_err(), "a held task made a step");
        gate.open();
        assert_eq!(answered.recv().await, Some(2));
        drop(requests);
        task.await.unwrap();
    }

    #[tokio::test]
    async fn a_held_task_can_be_ended() {
        let gate = TaskGate::new(Handle::current());
        gate.close();
        let task = gate.spawn(std::future::pending::<()>());
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
}
