//! Requests of the page, and their answers. 64-bit numbers are text, frames are raw pixels.

use super::clips::{Opening, Tags, announced};
use super::error_response::{ErrorResponse, Json, Path, Query};
use super::fault::Fault;
use super::jobs::{self, Verb};
use super::keep::{self, Base};
use super::list;
use super::names;
use super::recipe::{Drafts, load};
use super::recovery;
use super::reveal;
use super::sound;
use super::state::{Answer, Shared, Studio, answer};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use grainfield_filters::catalog::FILTERS;
use grainfield_filters::filter::convert::assumed_matrix;
use grainfield_filters::forms::curve as curves;
use grainfield_filters::forms::looks::LookForm;
use grainfield_filters::forms::recipe::{self, AnyText, Checked, FormatForm, RecipeFault, plane_names};
use grainfield_filters::frame::{ColorRange, Depth, Family, Format};
use grainfield_filters::host::lock;
use grainfield_filters::ratio::Ratio;
use grainfield_filters::recipe::Recipe;
use grainfield_io::disk::{OutputFile, reach};
use grainfield_render::assets::own_looks;
use grainfield_render::session::{self, Clip};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// The largest number of recipes that are kept by key.
const MAX_RECIPES: usize = 256;
/// The largest number of the user's own looks.
const MAX_LOOKS: usize = 500;
/// The largest text file that is read, in bytes.
const MAX_TEXT: u64 = 1 << 20;

pub(super) async fn catalog() -> Response {
    Json(FILTERS.iter().map(session::describe).collect::<Vec<_>>()).into_response()
}

/// The user's own looks and the built-in ones: whole recipes, with a sentence about each. An own one replaces the built-in
/// one of its name, as for `--look`.
pub(super) async fn looks(State(studio): Shared) -> Answer {
    answer(&studio, |studio, _| {
        let files = studio.looks.as_deref().map(own_looks).unwrap_or_default();
        let own = files.iter().take(MAX_LOOKS).filter_map(|(name, path)| {
            // The folder is the user's own, wherever it is: no name of a page leads to it.
            let file = path.is_file().then(|| File::open(path).ok())??;
            let text = names::moved(&short_text(file, name).ok()?, path.parent()?, studio.roots.first());
            LookForm::of(name, &text, true)
        });
        let mut all: Vec<LookForm> = own.collect();
        all.extend(LookForm::built_in().filter(|look| !files.contains_key(&look.name)));
        Ok(all)
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct LookRequest {
    name: String,
    text: String,
    #[serde(default)]
    overwrite: bool,
}

/// Keeps a recipe as one of the user's own looks. An existing one, also a built-in one, is replaced only on request.
pub(super) async fn keep_look(State(studio): Shared, Json(request): Json<LookRequest>) -> Answer {
    answer(&studio, move |studio, _| {
        let LookRequest { name, text, overwrite } = &request;
        let folder = studio
            .looks
            .as_deref()
            .ok_or_else(|| Fault::new("there is no folder of looks: HOME is not set"))?;
        // As `--look` takes it.
        if name.trim() != name || name.is_empty() || name.contains(['.', '/', '\\', '\0']) {
            return Err(Fault::new(format!("{name:?}: name the look without . and /")).into());
        }
        let path = folder.join(format!("{name}.toml"));
        if !overwrite && path.symlink_metadata().is_ok() {
            return Err(ErrorResponse::new(StatusCode::CONFLICT, format!("a look {name} exists")));
        }
        if !overwrite && grainfield_filters::forms::looks::built_in(name).is_some() {
            let taken = format!("{name} is a built-in look, which yours would hide, here and for --look");
            return Err(ErrorResponse::new(StatusCode::CONFLICT, taken));
        }
        std::fs::create_dir_all(folder).map_err(Fault::new)?;
        let folder = std::fs::canonicalize(folder).map_err(Fault::new)?;
        write(&path, &names::moved(text, studio.roots.first(), &folder), *overwrite)?;
        Ok(json!({ "path": path.to_string_lossy() }))
    })
    .await
}

pub(super) fn write(path: &std::path::Path, text: &str, overwrite: bool) -> Result<(), ErrorResponse> {
    let mut out = OutputFile::create(path.as_os_str(), overwrite).map_err(Fault::new)?;
    out.put(text.as_bytes()).map_err(Fault::new)?;
    Ok(out.finish().map_err(Fault::new)?)
}

fn described(studio: &Studio, id: u32) -> Result<Value, ErrorResponse> {
    let clip = studio.clip(id)?;
    let gone = || ErrorResponse::gone("the clip is no longer open");
    let Opening { input, lavfi, raw, tags } = studio.clips.opening(id).ok_or_else(gone)?;
    let (info, format) = (clip.info(), clip.info().format);
    Ok(json!({
        "id": id,
        "path": input.to_string_lossy(),
        "name": info.name,
        "kind": info.kind,
        "width": format.width,
        "height": format.height,
        "format": format.name(),
        "bits": if let Depth::Bits(bits) = format.depth { Some(bits) } else { None },
        "colour": colour(&format),
        "planes": plane_names(&format),
        "shape": format.shape(),
        "fields": format.fields.name(),
        "lavfi": lavfi.unwrap_or_default(),
        "raw": raw.map(|raw| raw.to_string()),
        "tags": tags,
        "matrix": assumed_matrix(&format).0.name(),
        "first": info.first,
        "last": info.last.unwrap_or_else(|| announced(info)),
        "estimated": info.last.is_none(),
        "rate": [format.rate.num(), format.rate.den()],
        "variable": info.variable_rate,
        "notes": info.notes,
        "sound": sound::bytes(info, &input),
        "details": info.details,
    }))
}

/// Matrix, transfer, range and primaries of a clip: `bt709, limited`, or `bt709, linear, full`, each only if the matrix does
/// not say it, too.
pub(super) fn colour(format: &Format) -> String {
    let known = |name: &&str| *name != "unspecified";
    let matrix = format.matrix.name().filter(|_| format.family == Family::Yuv).filter(known);
    let transfer = format.transfer.name().filter(|name| Some(*name) != matrix).filter(known);
    let range = if format.range == ColorRange::Full { "full" } else { "limited" };
    let usual = if format.family == Family::Rgb { "bt709" } else { matrix.unwrap_or_default() };
    let primaries = format.primaries.name().filter(|name| !usual.starts_with(name)).filter(known);
    let primaries = primaries.map(|name| format!("{name} primaries"));
    let all = [matrix, transfer, Some(range).filter(|_| format.family != Family::Rgb), primaries.as_deref()];
    let all = all.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if all.is_empty() { "untagged".into() } else { all }
}

#[derive(Deserialize)]
pub(super) struct OpenRequest {
    path: String,
    lavfi: Option<String>,
    raw: Option<String>,
    #[serde(default)]
    tags: Tags,
}

pub(super) async fn open(State(studio): Shared, Json(request): Json<OpenRequest>) -> Answer {
    answer(&studio, move |studio, cancel| {
        let from = Opening::new(
            studio.roots.input(&request.path)?,
            request.lavfi,
            request.raw.as_deref(),
            request.tags,
        )?;
        let id = studio.clips.open(from, cancel)?;
        described(studio, id)
    })
    .await
}

/// The properties of an open clip: its length may be an estimate until all of it has been scanned.
pub(super) async fn clip(State(studio): Shared, Path(id): Path<u32>) -> Answer {
    answer(&studio, move |studio, _| described(studio, id)).await
}

#[derive(Deserialize)]
pub(super) struct RecipeRequest {
    clip: Option<u32>,
    /// The text from which the recipe was opened.
    base: Option<Base>,
    /// Effects as they are edited.
    #[serde(default)]
    drafts: Drafts,
    #[serde(flatten)]
    text: AnyText,
}

/// Checks a recipe: its errors, its key, and the values of its settings in effect.
pub(super) async fn recipe(State(studio): Shared, Json(request): Json<RecipeRequest>) -> Answer {
    answer(&studio, move |studio, cancel| {
        let text = request.text.read()?;
        let mut read = recipe::read(&text);
        let (mut notes, mut made) = (Vec::new(), None);
        let at = |place: Option<(usize, String)>, e: Fault| RecipeFault {
            step: place.as_ref().and_then(|(on, _)| recipe::place(&text, *on)),
            setting: place.map(|(_, id)| id).filter(|id| !id.is_empty()),
            text: e.text,
            ..RecipeFault::default()
        };
        if let Err((place, e)) = load(&mut read.on, &studio.roots, &request.drafts) {
            read.faults.push(at(place, e));
        }
        let key = read.on.key();
        if read.faults.is_empty()
            && let Some(clip) = request.clip
        {
            match studio.clip(clip)?.check(&read.on, cancel).map_err(Fault::from) {
                Ok((format, answer)) => {
                    notes = answer;
                    made = Some(FormatForm::of(&format));
                }
                Err(e) => {
                    let place = e.place.map(|(on, id)| (on, id.to_owned()));
                    read.faults.push(at(place, e));
                }
            }
        }
        let mut checked = Checked { notes, made, ..Checked::new(text, &read) };
        let base = request.base.as_ref().filter(|_| read.faults.is_empty());
        if let Some(toml) = base.and_then(|base| keep::merged(base, &checked.recipe, &checked.toml)) {
            checked.toml = recipe::with_clips(&toml, &checked.recipe);
        }
        if read.faults.is_empty() {
            let mut recipes = lock(&studio.recipes);
            recipes.retain(|(known, _)| *known != key);
            if recipes.len() >= MAX_RECIPES {
                recipes.remove(0);
            }
            recipes.push((key, Arc::new(read.on)));
        }
        Ok(checked)
    })
    .await
}

pub(super) async fn curve(State(studio): Shared, Json(request): Json<curves::CurveRequest>) -> Answer {
    answer(&studio, move |studio, _| {
        let clip = request.clip.map(|id| studio.clip(id)).transpose()?;
        let Some(clip) = clip else { return Ok(curves::draw(&request, (0, None), Ratio::whole(24))?) };
        let info = clip.info();
        let times = curves::Times { rate: info.format.rate, first: info.first, begins: frame_times(&clip) };
        Ok(curves::draw(&request, (info.first, info.last), times)?)
    })
    .await
}

/// When the frames of a clip begin, as far as it has been scanned: empty at a constant rate.
fn frame_times(clip: &Clip) -> &[Ratio] {
    if clip.info().last.is_some() && clip.info().variable_rate { clip.frame_times() } else { &[] }
}

/// When each frame begins, and last when the clip ends, in seconds; empty at a constant rate.
pub(super) async fn clip_times(State(studio): Shared, Path(id): Path<u32>) -> Answer {
    answer(&studio, move |studio, _| {
        let seconds: Vec<f64> = frame_times(&studio.clip(id)?).iter().map(|t| t.to_f64()).collect();
        Ok(json!({ "seconds": seconds }))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct FolderQuery {
    #[serde(default)]
    folder: String,
}

pub(super) async fn files(State(studio): Shared, Query(request): Query<FolderQuery>) -> Answer {
    answer(&studio, move |studio, _| Ok(studio.roots.list(&request.folder)?)).await
}

#[derive(Deserialize)]
pub(super) struct FileQuery {
    path: String,
}

pub(super) async fn probe(State(studio): Shared, Query(request): Query<FileQuery>) -> Answer {
    answer(&studio, move |studio, cancel| {
        Ok(studio.glances.get(&studio.roots.input(&request.path)?, cancel)?)
    })
    .await
}

fn text_of(studio: &Studio, name: &str) -> Result<String, Fault> {
    let path = studio.roots.existing(name)?;
    short_text(reach::open(&path).map_err(|e| Fault::new(format!("{name}: {e}")))?, name)
}

/// The text of a recipe's file of limited size.
fn short_text(file: File, name: &str) -> Result<String, Fault> {
    let named = |e: std::io::Error| Fault::new(format!("{name}: {e}"));
    let mut text = String::new();
    file.take(MAX_TEXT + 1).read_to_string(&mut text).map_err(named)?;
    if text.len() as u64 > MAX_TEXT {
        return Err(Fault::new(format!("{name}: a recipe has at most {MAX_TEXT} bytes")));
    }
    Ok(text)
}

/// The text of a file, and that of a recipe as the page has it.
pub(super) async fn read_file(State(studio): Shared, Query(request): Query<FileQuery>) -> Answer {
    answer(&studio, move |studio, _| {
        let text = text_of(studio, &request.path)?;
        let recipe = names::moved(&text, &studio.roots.folder_of(&request.path), studio.roots.first());
        Ok(json!({ "text": text, "recipe": recipe }))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct SaveRequest {
    path: String,
    text: String,
    /// The text of the file when it was last read or written.
    was: Option<String>,
    /// Whether the text is a recipe as the page has it.
    #[serde(default)]
    recipe: bool,
    #[serde(default)]
    overwrite: bool,
}

/// Writes a recipe file. An existing one is replaced only on request, or if it has not changed since it was read.
pub(super) async fn write_file(State(studio): Shared, Json(request): Json<SaveRequest>) -> Answer {
    answer(&studio, move |studio, _| {
        let path = studio.roots.within(&request.path)?;
        if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("toml")) {
            return Err(Fault::new(format!("{}: name the recipe NAME.toml", request.path)).into());
        }
        if path.file_name().is_some_and(|name| name == list::LIST) {
            return Err(Fault::new(format!(
                "{}: this is the list of jobs: choose another name",
                request.path
            ))
            .into());
        }
        let exists = path.exists();
        if exists && !request.overwrite {
            let why = match &request.was {
                None => "exists",
                Some(was) if text_of(studio, &request.path).is_ok_and(|text| text == *was) => "",
                Some(_) => "was changed by another program",
            };
            if !why.is_empty() {
                return Err(ErrorResponse::new(StatusCode::CONFLICT, format!("{} {why}", request.path)));
            }
        }
        let mut text = request.text;
        if request.recipe {
            text = names::moved(&text, studio.roots.first(), &studio.roots.folder_of(&request.path));
        }
        write(&path, &text, exists)?;
        Ok(json!({ "text": text }))
    })
    .await
}

pub(super) async fn jobs(State(studio): Shared) -> Answer {
    answer(&studio, |studio, _| {
        let (rows, running) = studio.jobs.rows()?;
        Ok(json!({ "list": list::LIST, "jobs": rows, "running": running, "shows": studio.file_manager.is_some() }))
    })
    .await
}

pub(super) async fn add_job(State(studio): Shared, Json(request): Json<jobs::JobRequest>) -> Answer {
    answer(&studio, move |studio, _| {
        studio.roots.input(&request.input)?;
        studio.roots.within(&request.output)?;
        if !request.filters.is_empty() {
            let mut recipe = request.filters.parse::<Recipe>().map_err(RecipeFault::from)?;
            load(&mut recipe, &studio.roots, &Drafts::new()).map_err(|(_, e)| e)?;
        }
        Ok(json!({ "id": studio.jobs.add(&request)? }))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct VerbRequest {
    #[serde(default)]
    id: String,
}

pub(super) async fn job_verb(
    State(studio): Shared,
    Path(verb): Path<Verb>,
    Json(request): Json<VerbRequest>,
) -> Answer {
    answer(&studio, move |studio, _| {
        let mut segments = None;
        match verb {
            Verb::Start if !request.id.is_empty() => studio.jobs.start_one(&request.id)?,
            Verb::Start | Verb::Retry => studio.jobs.start(verb == Verb::Retry),
            Verb::Stop => studio.jobs.stop(true),
            Verb::Show => {
                let file = studio.jobs.finished(&request.id)?;
                studio.roots.within(&file.to_string_lossy())?;
                let program =
                    studio.file_manager.as_ref().ok_or_else(|| Fault::new("there is no file manager"))?;
                reveal::folder_of(program, &file)?;
            }
            _ => segments = studio.jobs.change(verb, &request.id)?,
        }
        Ok(json!({ "segments": segments }))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct SessionQuery {
    #[serde(default)]
    tab: String,
    #[serde(default)]
    work: String,
}

/// The initial data of the page.
pub(super) async fn session(State(studio): Shared, Query(request): Query<SessionQuery>) -> Answer {
    answer(&studio, move |studio, _| {
        let mut answer = studio.recovery.begin(&request.tab, &request.work, &studio.start)?;
        answer["version"] = env!("CARGO_PKG_VERSION").into();
        answer["folder"] = json!(studio.roots.first());
        answer["start"] = studio.start.clone();
        Ok(answer)
    })
    .await
}

/// Unsaved work that no page has.
pub(super) async fn unsaved(State(studio): Shared) -> Answer {
    answer(&studio, |studio, _| Ok(studio.recovery.offers())).await
}

#[derive(Deserialize)]
pub(super) struct WorkQuery {
    id: String,
}

/// A copy of the work of a tab.
pub(super) async fn work(State(studio): Shared, Query(request): Query<WorkQuery>) -> Answer {
    recovery::named(&request.id)?;
    answer(&studio, move |studio, _| {
        let gone = || ErrorResponse::gone("this work is no longer there");
        studio.recovery.saved(&request.id).ok_or_else(gone)
    })
    .await
}

/// Stores the work of a tab.
pub(super) async fn autosave(State(studio): Shared, Json(state): Json<Value>) -> Answer {
    answer(&studio, move |studio, _| {
        let tab = state["tab"].as_str().unwrap_or_default();
        recovery::named(tab)?;
        let Some(path) = studio.recovery.path(tab) else { return Ok(json!({})) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Fault::new)?;
        }
        write(&path, &state.to_string(), true)?;
        Ok(json!({}))
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct ForgetRequest {
    id: String,
}

/// Deletes work that was offered.
pub(super) async fn forget(State(studio): Shared, Json(request): Json<ForgetRequest>) -> Answer {
    recovery::named(&request.id)?;
    if !studio.recovery.is_taken(&request.id)
        && let Some(path) = studio.recovery.path(&request.id)
    {
        std::fs::remove_file(path).map_err(Fault::new)?;
    }
    Ok(Json(json!({})).into_response())
}
