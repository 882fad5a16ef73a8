//! Events for the page: progress of jobs and of simulations.

use super::guard;
use super::recovery::RELOADING;
use super::state::{Shared, Studio};
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// How long a socket may be open before it has sent the token.
const PATIENCE: Duration = Duration::from_secs(3);
/// The largest message of a page, in bytes.
const MAX_MESSAGE: usize = 1024;

/// Tells pages that other work than before may be free.
const UNSAVED: &str = r#"{"type":"unsaved"}"#;

/// `/api/events`. Browsers let any page open a socket, so the origin is checked, and the first message must be the
/// token, with the name of the tab after a space.
pub(super) async fn socket(State(studio): Shared, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    if guard::only(&headers, header::ORIGIN).is_none() {
        return (StatusCode::FORBIDDEN, "the request has no origin").into_response();
    }
    if studio.sockets.available_permits() == 0 {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open").into_response();
    }
    upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).on_upgrade(move |socket| async move {
        let Ok(permit) = studio.sockets.try_acquire() else { return };
        talk(&studio, socket).await;
        drop(permit);
        // The work of a page that does not come back is offered to the others.
        tokio::time::sleep(RELOADING).await;
        let _ = studio.events.send(UNSAVED.into());
    })
}

async fn talk(studio: &Studio, mut socket: WebSocket) {
    let first = tokio::time::timeout(PATIENCE, socket.recv()).await;
    let Ok(Some(Ok(Message::Text(message)))) = first else { return };
    let (token, tab) = message.split_once(' ').unwrap_or((message.as_str(), ""));
    if !guard::same(token, &studio.token) {
        return;
    }
    let _connected = studio.recovery.connect(tab);
    let _ = studio.events.send(UNSAVED.into());
    let mut events = studio.events.subscribe();
    if socket.send(Message::text(r#"{"type":"hello"}"#)).await.is_err() {
        return;
    }
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Ok(text) => {
                    if socket.send(Message::text(text)).await.is_err() {
                        return;
                    }
                }
                // A page that reads slowly misses some events; each contains the whole state.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            message = socket.recv() => match message {
                None | Some(Err(_)) => return,
                Some(Ok(_)) => {}
            },
        }
    }
}
