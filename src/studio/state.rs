//! The state that all requests share.

use super::clips::{Clips, Finished, Which};
use super::error_response::{ErrorResponse, Json};
use super::fault::Fault;
use super::files::Roots;
use super::glance::Glances;
use super::jobs::Jobs;
use super::names;
use super::recovery::Recovery;
use super::reveal;
use crate::Options;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use grainfield_filters::forms::recipe;
use grainfield_filters::host::lock;
use grainfield_filters::recipe::Recipe;
use grainfield_render::batch::fingerprint::Resolve;
use grainfield_render::session::job::Cache;
use grainfield_render::session::{Cancel, Clip};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, broadcast};

/// The largest number of simultaneous requests, including event sockets.
const MAX_REQUESTS: usize = 128;
/// The largest number of connected pages.
const MAX_SOCKETS: usize = 32;

pub(super) type Shared = State<Arc<Studio>>;

/// The shared state of all requests.
pub(super) struct Studio {
    pub(super) token: String,
    pub(super) hosts: Vec<String>,
    pub(super) requests: Semaphore,
    pub(super) sockets: Semaphore,
    pub(super) events: broadcast::Sender<String>,
    pub(super) roots: Roots,
    pub(super) jobs: Arc<Jobs>,
    pub(super) clips: Arc<Clips>,
    pub(super) glances: Glances,
    pub(super) recipes: Mutex<Vec<(u128, Arc<Recipe>)>>,
    pub(super) recovery: Recovery,
    /// The program that shows a folder, if there is one.
    pub(super) file_manager: Option<PathBuf>,
    /// The folder of the user's own looks.
    pub(super) looks: Option<PathBuf>,
    /// The input and the recipe that the command line names.
    pub(super) start: Value,
    pub(super) stop: Arc<AtomicBool>,
}

impl Studio {
    pub(super) fn new(
        options: &Options,
        settings: Resolve,
        token: String,
        hosts: Vec<String>,
        stop: Arc<AtomicBool>,
    ) -> Result<Studio, String> {
        let input = options.input.as_deref().filter(|i| !i.starts_with("pattern:"));
        let named: Vec<&std::path::Path> =
            input.map(std::path::Path::new).into_iter().chain(options.recipe.as_deref()).collect();
        let roots = Roots::new(&named, &options.allow_folder)?;
        if let Some(input) = &options.input {
            roots.input(input).map_err(|e| e.text)?;
        }
        let mut start = json!({ "input": options.input, "recipe": Value::Null });
        if let Some(path) = &options.recipe {
            let name = path.to_string_lossy();
            let text = std::fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
            let recipe = names::moved(&text, &roots.folder_of(&name), roots.first());
            let read = recipe::parse(&recipe, false)
                .map_err(|e| format!("{name}:{}: {}", e.line.unwrap_or(1), e.text))?;
            start["recipe"] = json!({ "name": name, "recipe": read, "text": recipe, "was": text });
        }
        let events = broadcast::channel(256).0;
        let cache = Cache { folder: options.cache.clone(), limit: None };
        let clips = Clips::new(options.memory, cache, events.clone());
        Ok(Studio {
            token,
            hosts,
            requests: Semaphore::new(MAX_REQUESTS),
            sockets: Semaphore::new(MAX_SOCKETS),
            jobs: Jobs::new(roots.first(), events.clone(), settings),
            events,
            recovery: Recovery::new(options.state.as_deref(), roots.first()),
            file_manager: reveal::program(options),
            looks: options.looks.clone(),
            roots,
            clips: Arc::new(clips),
            glances: Glances::default(),
            recipes: Mutex::default(),
            start,
            stop,
        })
    }

    /// Cancels all running work.
    pub(super) fn close(&self) {
        self.jobs.stop(false);
        self.clips.stop();
    }

    pub(super) fn clip(&self, id: u32) -> Result<Clip, ErrorResponse> {
        self.clips.get(id)
    }

    pub(super) fn known(&self, key: u128) -> Result<Arc<Recipe>, ErrorResponse> {
        let recipes = lock(&self.recipes);
        let found = recipes.iter().find(|(known, _)| *known == key);
        found.map(|(_, r)| Arc::clone(r)).ok_or_else(|| ErrorResponse::gone("the recipe is no longer known"))
    }

    /// A finished frame; with key 0 a frame of the input.
    pub(super) fn frame(&self, which: Which, cancel: &Cancel) -> Result<Arc<Finished>, ErrorResponse> {
        self.clips.finished(which, cancel, |clip| {
            let recipe = if which.1 == 0 { Arc::default() } else { self.known(which.1)? };
            Ok(clip.frame_cancellable(which.2, &recipe, cancel).map_err(Fault::from)?.frame)
        })
    }
}

pub(super) type Answer = Result<Response, ErrorResponse>;

/// Cancels a request when it is dropped before its end, because its client has disconnected.
struct CancelOnDrop(Option<Cancel>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.iter().for_each(Cancel::cancel);
    }
}

/// Runs long work on a separate thread; it is cancelled when nobody waits for it.
pub(super) async fn spawn_cancellable<T: Send + 'static>(
    studio: &Arc<Studio>,
    work: impl FnOnce(&Studio, &Cancel) -> Result<T, ErrorResponse> + Send + 'static,
) -> Result<T, ErrorResponse> {
    let cancel = Cancel::new();
    let mut guard = CancelOnDrop(Some(cancel.clone()));
    let studio = Arc::clone(studio);
    let work = move || {
        if cancel.is_cancelled() || studio.stop.load(Ordering::Relaxed) {
            return Err(ErrorResponse::gone("no longer needed"));
        }
        work(&studio, &cancel)
    };
    let done = tokio::task::spawn_blocking(work).await;
    guard.0 = None;
    done.unwrap_or_else(|e| {
        let text = e.try_into_panic().map_or_else(
            |_| "interrupted".to_owned(),
            |panic| panic.downcast_ref::<&str>().map_or("internal error".into(), |s| (*s).into()),
        );
        Err(ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, text))
    })
}

/// Answers with the result of [long work](spawn_cancellable) as JSON.
pub(super) async fn answer<T: Serialize + Send + 'static>(
    studio: &Arc<Studio>,
    work: impl FnOnce(&Studio, &Cancel) -> Result<T, ErrorResponse> + Send + 'static,
) -> Answer {
    Ok(Json(spawn_cancellable(studio, work).await?).into_response())
}
