//! Requests that fare otherwise, because somebody wants to see what their clients do then.

use std::fmt::Display;

use milena_protocol::{Decoder, Frame};
use tokio::time::sleep;

use super::RequestContext;
use crate::faults::{Action, Call, ChangeAnswer, Intercepted};
use crate::network::{CloseReason, Reply};

/// Does to a request what the intercept wants.
pub(super) async fn serve(
    mut intercepted: Intercepted,
    context: RequestContext,
    body: &mut Decoder,
) -> Result<Reply, CloseReason> {
    let call = Call { version: context.version(), correlation_id: context.head.correlation_id };
    match intercepted.action.clone() {
        Action::Delay(by) => {
            tokio::select! {
                () = sleep(by) => {}
                () = intercepted.taken_back() => {}
            }
            context.serve(body).await
        }
        Action::LoseRequest => Ok(never()),
        Action::LoseAnswer => Ok(match context.serve(body).await? {
            // Some requests are handled while their answer is waited for.
            Reply::Later(later) => Reply::Later(Box::pin(async move {
                later.await?;
                std::future::pending().await
            })),
            Reply::InTurn(later) => Reply::Later(Box::pin(async move {
                drop(later.await?);
                std::future::pending().await
            })),
            Reply::Now(_) => never(),
        }),
        Action::Disconnect | Action::Error(_) => Err(CloseReason("an injected fault".to_owned())),
        Action::Answer(_, answer) => answer(body, call).map(Reply::Now).map_err(failed),
        Action::Change(_, change) => Ok(match context.serve(body).await? {
            Reply::Now(answer) => Reply::Now(changed(&change, answer, call)?),
            Reply::Later(later) => {
                Reply::Later(Box::pin(async move { changed(&change, later.await?, call) }))
            }
            Reply::InTurn(later) => Reply::InTurn(Box::pin(async move {
                let (answer, room) = later.await?;
                Ok((change(&answer, call).map_err(failed)?, room))
            })),
        }),
    }
}

fn changed(change: &ChangeAnswer, answer: Option<Frame>, call: Call) -> Result<Option<Frame>, CloseReason> {
    answer.map(|answer| change(&answer, call).map_err(failed)).transpose()
}

fn never() -> Reply {
    Reply::Later(Box::pin(std::future::pending()))
}

fn failed(reason: impl Display) -> CloseReason {
    CloseReason(format!("an injected fault cannot be: {reason}"))
}
