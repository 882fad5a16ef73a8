//! `grainfield studio`: a page in the browser that shows a source and the result of a recipe, frame by frame.
//!
//! The server listens on the local machine only. It shows what a render writes: frames come from the same chain as in
//! a render, and are converted to 8-bit RGB (`picture`), cropped or reduced afterwards. Curves, scopes, differences
//! and code values are computed here, too, so that the page does no arithmetic on samples.
//!
//! `guard` checks requests, `api` and `frames` answer them with the library's [`session`](grainfield_render::session), `clips` keeps
//! clips open, `jobs` renders through the files of `grainfield batch`, and `app/` is the page, compiled into the program.

mod api;
mod assets;
mod clips;
mod effect;
mod error_response;
mod events;
mod fault;
mod files;
mod frames;
mod glance;
mod guard;
mod jobs;
mod keep;
mod list;
mod names;
mod output;
mod picture;
mod pixels;
mod plots;
mod recipe;
mod recovery;
mod reveal;
mod scene;
mod scopes;
mod shrink;
mod sound;
mod state;
mod times;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use grainfield_io::disk::reach;
use grainfield_render::batch::fingerprint::Resolve;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// The largest body of a request in bytes.
const MAX_BODY: usize = 1 << 20;
/// The number of threads for frames, files and curves: further requests wait.
const MAX_THREADS: usize = 12;
/// The time that a page and its renders have to end after Ctrl-C.
const GRACE: Duration = Duration::from_millis(300);

/// The options of the studio.
#[derive(Clone, Debug)]
pub struct Options {
    /// The clip to begin with: a file, numbered images or `pattern:NAME`.
    pub input: Option<String>,
    /// The recipe to begin with.
    pub recipe: Option<PathBuf>,
    /// Print the address and open no browser.
    pub no_browser: bool,
    /// The port on this machine; any free one by default.
    pub port: Option<u16>,
    /// Names, with their ports, under which a tunnel reaches this server; others are refused.
    pub allow_host: Vec<String>,
    /// Further folders whose files the page can open and write.
    pub allow_folder: Vec<PathBuf>,
    /// The bytes that frames of open clips may take together.
    pub memory: u64,
    /// The seconds after which an unused clip is closed.
    pub idle: u64,
    /// Where unsaved work is kept between runs.
    pub state: Option<PathBuf>,
    /// The folder of the user's own looks, NAME.toml.
    pub looks: Option<PathBuf>,
    /// Where indexes and states of simulations are kept.
    pub cache: Option<PathBuf>,
}

/// Serves the page until `stop` is set. `settings` resolves the options of renders.
///
/// # Errors
/// Why the page cannot be served: no such port, recipe, clip or folder.
pub fn run(options: Options, settings: Resolve, stop: &Arc<AtomicBool>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_THREADS)
        .build()
        .map_err(|e| format!("the studio cannot start: {e}"))?;
    let served = runtime.block_on(serve(options, settings, stop));
    runtime.shutdown_timeout(GRACE);
    served
}

async fn serve(options: Options, settings: Resolve, stop: &Arc<AtomicBool>) -> Result<(), String> {
    let before = recovery::Address::before(options.state.as_deref());
    let port = options.port.unwrap_or(0);
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    // A page of a server that has ended finds this one there.
    let again = match &before {
        Some(before) if port == 0 => bind(before.port).await.ok(),
        _ => None,
    };
    let listener = match again {
        Some(listener) => listener,
        None => bind(port)
            .await
            .map_err(|e| format!("127.0.0.1:{port}: {e}: leave --port out to use a free port"))?,
    };
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    let token = match before.filter(|before| before.port == port) {
        Some(before) => before.token,
        None => random(32).map_err(|e| format!("no random numbers for the page's key: {e}"))?,
    };
    recovery::Address { port, token: token.clone() }.keep(options.state.as_deref());
    let address = format!("http://127.0.0.1:{port}/#{token}");
    let hosts = guard::hosts(port, &options.allow_host);
    let studio = Arc::new(state::Studio::new(&options, settings, token, hosts, Arc::clone(stop))?);
    reach::limit(studio.roots.folders());
    #[cfg(feature = "ffmpeg")]
    grainfield_io::libav::process::limit_free_memory();
    announce(&options, &address)?;
    tokio::select! {
        served = axum::serve(listener, router(&studio)) => served.map_err(|e| e.to_string())?,
        () = until(stop) => {}
        () = close_idle_clips(&studio, Duration::from_secs(options.idle)) => {}
    }
    studio.close();
    Ok(())
}

fn router(studio: &Arc<state::Studio>) -> Router {
    let api = Router::new()
        .route("/catalog", get(api::catalog))
        .route("/looks", get(api::looks).put(api::keep_look))
        .route("/session", get(api::session))
        .route("/autosave", post(api::autosave))
        .route("/unsaved", get(api::unsaved))
        .route("/work", get(api::work))
        .route("/forget", post(api::forget))
        .route("/open", post(api::open))
        .route("/clip/{id}", get(api::clip))
        .route("/clip/{id}/times", get(api::clip_times))
        .route("/recipe", post(api::recipe))
        .route("/curve", post(api::curve))
        .route("/frame/{clip}/{key}/{number}", get(frames::frame))
        .route("/hash/{clip}/{key}/{number}", get(frames::hash))
        .route("/pixels/{clip}/{key}/{number}", get(frames::pixels))
        .route("/scopes/{clip}/{key}/{number}", get(frames::scopes))
        .route("/scene/{clip}/{number}", get(frames::scene))
        .route("/keyframe/{clip}/{number}", get(frames::key_frame))
        .route("/plot/{clip}/{key}/{number}", get(frames::plot))
        .route("/sound/{clip}/{part}", get(sound::part))
        .route("/times/{clip}/{key}/{number}", get(frames::times))
        .route("/effect", get(effect::keys).post(effect::read))
        .route("/files", get(api::files))
        .route("/probe", get(api::probe))
        .route("/output", post(output::resolve))
        .route("/estimate", post(output::estimate))
        .route("/file", get(api::read_file).put(api::write_file))
        .route("/jobs", get(api::jobs).post(api::add_job))
        .route("/jobs/{verb}", post(api::job_verb))
        .layer(middleware::from_fn_with_state(Arc::clone(studio), guard::require_token))
        .route("/events", get(events::socket));
    Router::new()
        .route("/", get(assets::page))
        .route("/app/{*path}", get(assets::file))
        .nest("/api", api)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(studio), guard::guard))
        .with_state(Arc::clone(studio))
}

/// Returns soon after `stop` has been set.
async fn until(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// Closes clips that were not used for some time, for ever.
async fn close_idle_clips(studio: &Arc<state::Studio>, idle: Duration) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let clips = Arc::clone(&studio.clips);
        let _ = tokio::task::spawn_blocking(move || clips.close_idle(idle)).await;
    }
}

/// Random bytes in hexadecimal digits.
fn random(count: usize) -> io::Result<String> {
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// Prints the address, and opens it in the browser if requested.
fn announce(options: &Options, address: &str) -> Result<(), String> {
    let mut out = io::stdout();
    // If standard output is closed, nobody needs the address.
    let _ = writeln!(out, "{address}").and_then(|()| out.flush());
    if options.no_browser {
        return Ok(());
    }
    if let Err(e) = browse(address) {
        eprintln!("no browser could be started ({e}): open the address above");
    }
    Ok(())
}

/// Opens the address through an HTML file that only the user can read: all users can see the arguments of a program.
fn browse(address: &str) -> io::Result<()> {
    let mut page = tempfile::Builder::new().prefix("grainfield-studio-").suffix(".html").tempfile()?;
    let text = format!(
        "<!doctype html><meta charset=utf-8><title>Grainfield</title><meta http-equiv=refresh content=\"0;url={address}\">"
    );
    page.write_all(text.as_bytes())?;
    let path = page.into_temp_path();
    let mut child = Command::new(reveal::OPENER)
        .arg(AsRef::<Path>::as_ref(&path))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // The browser reads the file some time after the program that starts it has ended.
    std::thread::spawn(move || {
        let _ = child.wait();
        std::thread::sleep(Duration::from_secs(20));
        drop(path);
    });
    Ok(())
}
