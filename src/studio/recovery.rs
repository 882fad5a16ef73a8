//! Unsaved work: each tab has a file of its own, which a later tab takes over after the server or the tab has ended.

use super::error_response::ErrorResponse;
use super::fault::Fault;
use super::random;
use axum::http::StatusCode;
use grainfield_filters::frame::md5;
use grainfield_filters::host::lock;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Work is offered for this long.
const OFFERED: Duration = Duration::from_secs(24 * 3600);
/// A page that is being loaded connects within this time.
const LOADING: Duration = Duration::from_secs(10);
/// A page that is loaded again comes back within this time after its connection has ended.
pub(super) const RELOADING: Duration = Duration::from_secs(2);
/// The number of digits of a tab's name.
const DIGITS: usize = 16;

/// The files of one folder in which a studio is started.
pub(super) struct Recovery {
    folder: Option<PathBuf>,
    /// The prefix of the names of its files.
    prefix: String,
    started: SystemTime,
    /// For each tab the number of its connections, and until when its page is waited for without one.
    tabs: Mutex<HashMap<String, (usize, Instant)>>,
}

/// Where the last server of this folder was, and its key: a page whose server was started again goes on.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Address {
    pub(super) port: u16,
    pub(super) token: String,
}

impl Address {
    fn path(state: Option<&Path>) -> Option<PathBuf> {
        let here = std::env::current_dir().and_then(fs::canonicalize).ok()?;
        Recovery::new(state, &here).path("address")
    }

    /// The last one, of a day at most.
    pub(super) fn before(state: Option<&Path>) -> Option<Address> {
        let path = Address::path(state)?;
        let age = fs::metadata(&path).ok()?.modified().ok()?.elapsed().ok()?;
        let found: Address = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (age < OFFERED && found.token.len() == 64).then_some(found)
    }

    /// Only the user can read the file. Without it, a page cannot come back: that is no error.
    pub(super) fn keep(&self, state: Option<&Path>) {
        let Some(path) = Address::path(state) else { return };
        let write = || -> std::io::Result<()> {
            let folder = path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(&mut file, self)?;
            file.persist(&path)?;
            Ok(())
        };
        let _ = write();
    }
}

/// The file of a tab.
struct SavedTab {
    tab: String,
    path: PathBuf,
    written: SystemTime,
    state: Value,
}

impl SavedTab {
    /// Whether it holds nothing but the settings of the page.
    fn is_empty(&self) -> bool {
        let steps = self.state["recipe"]["steps"].as_array();
        let named = self.state["recipePath"].as_str().is_some_and(|path| !path.is_empty());
        self.state["dirty"] != true && !named && steps.is_none_or(Vec::is_empty)
    }

    fn is_dirty(&self) -> bool {
        self.state["dirty"] == true && self.is_recent()
    }

    fn is_recent(&self) -> bool {
        self.written.elapsed().is_ok_and(|age| age < OFFERED)
    }

    /// The description of an offer.
    fn offer(&self) -> Value {
        let steps = self.state["recipe"]["steps"].as_array();
        let filters: Vec<&Value> = steps.into_iter().flatten().map(|step| &step["name"]).collect();
        let when = self.written.duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as u64);
        json!({ "id": self.tab, "when": when, "clip": self.state["clip"], "filters": filters })
    }
}

pub(super) fn named(tab: &str) -> Result<(), ErrorResponse> {
    let is_name = tab.len() == DIGITS && tab.bytes().all(|b| b.is_ascii_hexdigit());
    let wrong = || {
        ErrorResponse::new(StatusCode::BAD_REQUEST, format!("a tab's name has {DIGITS} hexadecimal digits"))
    };
    is_name.then_some(()).ok_or_else(wrong)
}

impl Recovery {
    /// `state` is the folder of all studios' files, `root` the one in which this studio was started.
    pub(super) fn new(state: Option<&Path>, root: &Path) -> Recovery {
        let prefix = format!("{:032x}-", md5(root.as_os_str().as_encoded_bytes()));
        let (folder, started) = (state.map(|s| s.join("studio")), SystemTime::now());
        Recovery { folder, prefix, started, tabs: Mutex::default() }
    }

    pub(super) fn path(&self, tab: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{}{tab}.json", self.prefix)))
    }

    /// All files, the newest first.
    fn all(&self) -> Vec<SavedTab> {
        let entries = self.folder.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let saved = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let tab = name.strip_prefix(&self.prefix)?.strip_suffix(".json")?.to_owned();
            named(&tab).ok()?;
            let state = serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?;
            Some(SavedTab {
                tab,
                path: entry.path(),
                written: entry.metadata().ok()?.modified().ok()?,
                state,
            })
        });
        let mut all: Vec<SavedTab> = saved.collect();
        all.sort_by_key(|saved| std::cmp::Reverse(saved.written));
        all
    }

    fn is_connected(&self, tab: &str) -> bool {
        lock(&self.tabs).get(tab).is_some_and(|(connections, _)| *connections > 0)
    }

    /// Whether a page has this file.
    pub(super) fn is_taken(&self, tab: &str) -> bool {
        self.is_connected(tab) || !self.awaited(tab).is_zero()
    }

    /// How long a page without a connection is waited for.
    fn awaited(&self, tab: &str) -> Duration {
        lock(&self.tabs)
            .get(tab)
            .map_or(Duration::ZERO, |(_, until)| until.saturating_duration_since(Instant::now()))
    }

    /// Waits, for a moment at most, until it is known whether the pages that have just gone come back: their work is free
    /// otherwise.
    fn wait_for_reloads(&self, all: &[SavedTab]) {
        let gone = all.iter().filter(|saved| !saved.is_empty() && !self.is_connected(&saved.tab));
        let left = gone.map(|saved| self.awaited(&saved.tab)).filter(|left| *left <= RELOADING).max();
        std::thread::sleep(left.unwrap_or_default());
    }

    /// Unsaved work that no page has.
    pub(super) fn offers(&self) -> Vec<Value> {
        let free = self.all().into_iter().filter(|saved| saved.is_dirty() && !self.is_taken(&saved.tab));
        free.map(|saved| saved.offer()).collect()
    }

    /// The initial data of a page: its name, the state that it continues, and other unsaved work. `tab` is its name
    /// before it was loaded again, `work` the file that it was opened for, `start` what the command line names. A page that
    /// begins without work learns of that of another page.
    pub(super) fn begin(&self, tab: &str, work: &str, start: &Value) -> Result<Value, ErrorResponse> {
        let mut all = self.all();
        if all.iter().all(|k| k.tab != tab) {
            self.wait_for_reloads(&all);
            all = self.all();
        }
        let own = all.iter().position(|k| k.tab == tab);
        let requested = all.iter().position(|k| k.tab == work && !self.is_taken(work));
        // The command line says where the first page begins, not those after it.
        let fits = |saved: &SavedTab| start["input"].is_null() || start["input"] == saved.state["clip"];
        let fits =
            |saved: &SavedTab| start["recipe"].is_null() && fits(saved) || saved.written >= self.started;
        let goes_on = |saved: &SavedTab| fits(saved) && !self.is_taken(&saved.tab);
        let newest = all.iter().position(|saved| !saved.is_empty()).unwrap_or(0);
        let newest = all.get(newest).is_some_and(goes_on).then_some(newest);
        let name = match own {
            // A tab that the browser has copied shares the name with the one that it was copied from.
            Some(_) if !self.is_connected(tab) => tab.to_owned(),
            _ => random(DIGITS / 2).map_err(Fault::new)?,
        };
        // unsaved work of a page that is open stays there: this one may have a copy
        let elsewhere = all.iter().find(|saved| saved.is_dirty() && self.is_taken(&saved.tab));
        let elsewhere = elsewhere.filter(|_| own.or(requested).or(newest).is_none()).map(SavedTab::offer);
        let (mut state, resume) = match own.or(requested).or(newest) {
            Some(i) => {
                let (dirty, recent) = (all[i].is_dirty(), all[i].is_recent());
                let saved = all.remove(i);
                if let Some(path) = self.path(&name).filter(|_| own.is_none()) {
                    fs::rename(&saved.path, path).map_err(Fault::new)?;
                }
                let mut state = saved.state;
                state["dirty"] = dirty.into();
                if own.is_none() && !recent {
                    state["recipe"] = Value::Null;
                }
                (state, true)
            }
            None => match all.first() {
                Some(saved) => {
                    let mut state = saved.state.clone();
                    // what is saved may be shown twice, unsaved work may not
                    if saved.state["dirty"] == true || !saved.is_recent() || !start["recipe"].is_null() {
                        state["recipe"] = Value::Null;
                    }
                    state["dirty"] = false.into();
                    (state, fits(saved))
                }
                None => (Value::Null, false),
            },
        };
        if let Some(state) = state.as_object_mut() {
            state.remove("tab");
        }
        lock(&self.tabs).insert(name.clone(), (0, Instant::now() + LOADING));
        let (dirty, clean): (Vec<SavedTab>, _) =
            all.into_iter().filter(|saved| !self.is_taken(&saved.tab)).partition(SavedTab::is_dirty);
        // The settings of the page are in every file.
        if own.or(requested).or(newest).is_some() {
            clean.iter().for_each(|saved| drop(fs::remove_file(&saved.path)));
        }
        let unsaved: Vec<Value> = dirty.iter().map(SavedTab::offer).collect();
        Ok(
            json!({ "tab": name, "autosave": state, "resume": resume, "unsaved": unsaved, "elsewhere": elsewhere }),
        )
    }

    /// The work of a tab as it was stored last.
    pub(super) fn saved(&self, tab: &str) -> Option<Value> {
        self.all().into_iter().find(|saved| saved.tab == tab).map(|saved| saved.state)
    }

    /// Counts a connection of a tab, until the result is dropped.
    pub(super) fn connect(&self, tab: &str) -> Connected<'_> {
        lock(&self.tabs).entry(tab.to_owned()).or_insert((0, Instant::now())).0 += 1;
        Connected(self, tab.to_owned())
    }
}

/// See [`Recovery::connect`].
pub(super) struct Connected<'a>(&'a Recovery, String);

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        let mut tabs = lock(&self.0.tabs);
        if let Some((connections, until)) = tabs.get_mut(&self.1) {
            *connections -= 1;
            *until = Instant::now() + RELOADING;
        }
        tabs.retain(|_, (connections, until)| *connections > 0 || *until > Instant::now());
    }
}
