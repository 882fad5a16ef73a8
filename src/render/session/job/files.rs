//! Files that settings name, read before the first frame: images, effect files, and frames of the source.

use super::{JobError, NoFrame, Request, RequestError, SourceFrameError, external_files, threads};
use crate::assets::{load_clip, load_effect, load_font, load_grain_table, load_lut, load_plate, load_tracks};
use crate::source_frames::FramesAround;
use grainfield_filters::chain::{Step, still};
use grainfield_filters::frame::{ClipDetails, Frame, SourceFrames};
use grainfield_filters::recipe::{Recipe, effect, nearest};
use grainfield_filters::settings::{FileAsset, FileKind, Kind, Setting, SettingError, Value};
use grainfield_io::disk::FileAccess;
use grainfield_io::format::images;
use grainfield_io::source::{self, Info, SourceError};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// Returns an error for frames of the source if it can be read only once, before anything is read.
pub(crate) fn check(request: &Request) -> Result<(), JobError> {
    if !request.parse_input().is_pipe() {
        return Ok(());
    }
    if let Some(step) = request.recipe.steps.iter().find(|step| reads_source_frames(step)) {
        return Err(source_is_read_once(step));
    }
    for step in &request.recipe.steps {
        if let Some((setting, value)) = step.iter_given().find(|(s, _)| s.kind == Kind::SourceFrame) {
            return Err(source_frame_error((step.filter.name, setting), value, SourceFrameError::Pipe));
        }
    }
    Ok(())
}

impl Request {
    /// The files that the job reads, and those that it may write.
    ///
    /// # Errors
    /// [`JobError`] if the name of the output is invalid.
    pub fn file_access(&self) -> Result<FileAccess, JobError> {
        let mut access = self.parse_output()?.writes(self.shard);
        access.read_all("the input", self.parse_input().reads());
        access.extend(files_in_recipe(&self.recipe));
        self.lavfi.iter().for_each(|graph| access.extend(external_files::files_in_graph(graph)));
        access.extend(external_files::files_in_encoder_options(&self.encoding.options));
        access.extend(self.beside.clone());
        Ok(access)
    }

    /// Returns an error for a job that would write a file that it reads, by any names, or whose FFmpeg filters or
    /// encoder would replace a file without being asked. Creates no files.
    ///
    /// # Errors
    /// [`JobError::SameFile`], or [`JobError`] if the name of the output is invalid.
    pub fn check_files(&self) -> Result<(), JobError> {
        let access = self.file_access()?;
        access.check()?;
        if self.overwrite { Ok(()) } else { Ok(access.check_external_writes()?) }
    }
}

/// The files that a recipe's settings name.
pub fn files_in_recipe(recipe: &Recipe) -> FileAccess {
    let mut access = FileAccess::default();
    for link in &recipe.links {
        access.read(format!("the curve of '{}'", link.setting.id), link.file.clone());
    }
    for step in &recipe.steps {
        for (setting, value) in step.iter_given() {
            let (what, name) = match (&setting.kind, &value) {
                (Kind::Image, Value::Image(picture)) => ("image", picture.name()),
                (Kind::File(FileKind::Clip | FileKind::Mask), Value::File(file)) => {
                    if !setting.kind.is_word(file.name()) {
                        let role = format!("the {} of '{}'", setting.id, step.filter.name);
                        access.read_all(&role, source::reads(OsStr::new(file.name())));
                    }
                    continue;
                }
                (Kind::File(kind), Value::File(file)) => (kind.name(), file.name()),
                _ => continue,
            };
            access.read(format!("the {what} of '{}'", step.filter.name), name);
        }
    }
    access
}

/// Reads a frame of the source by the source's number, with the user's tags. `None` if there is no such frame.
pub(crate) type ReadFrame<'a, E> = &'a mut dyn FnMut(i64) -> Result<Option<Frame>, E>;

/// Reads the files and frames that settings name, and supplies them.
pub(crate) fn load<E: From<JobError>>(
    request: &mut Request,
    info: &Info,
    options: &source::Options,
    read: ReadFrame<'_, E>,
) -> Result<(), E> {
    load_files(&mut request.recipe)?;
    supply_details(request, info);
    supply_source(request, info, options)?;
    for i in 0..request.recipe.steps.len() {
        for (setting, value) in not_loaded(&request.recipe.steps[i], |kind| matches!(kind, Kind::SourceFrame))
        {
            let Value::Image(picture) = value else { continue };
            let filter = request.recipe.steps[i].filter.name;
            let frame = source_frame(request, info, (filter, setting), picture.name(), read)?;
            set_value(&mut request.recipe.steps[i], setting, Value::Image(picture.read(frame)))?;
        }
    }
    Ok(())
}

/// Supplies what is known of the clip.
fn supply_details(request: &mut Request, info: &Info) {
    let file =
        Path::new(&info.name).file_name().map_or_else(|| info.name.clone(), |n| n.to_string_lossy().into());
    let details = Arc::new(ClipDetails {
        file,
        timecode: info.timecode().map(str::to_owned),
        properties: info.details.clone(),
        numbers: (info.kind == source::SEQUENCE).then(|| (info.first, info.last.unwrap_or(i64::MAX))),
        offset: request.frame_offset,
        seed: request.recipe.seed.unwrap_or(0),
    });
    request.recipe.steps.iter_mut().for_each(|step| step.values.supply_details(Arc::clone(&details)));
}

/// Opens the input once more for the filters that read the frames around each frame.
fn supply_source(request: &mut Request, info: &Info, options: &source::Options) -> Result<(), JobError> {
    let Some(reader) = request.recipe.steps.iter().find(|step| reads_source_frames(step)) else {
        return Ok(());
    };
    if !info.seekable {
        return Err(source_is_read_once(reader));
    }
    let source = request.parse_input().open(options)?;
    let format = request.tagged_format(&info.format);
    let readers = threads(request)?;
    let frames = FramesAround::new(source, format, request.frame_offset, readers, Arc::clone(&options.stop));
    let frames: Arc<dyn SourceFrames> = Arc::new(frames);
    for step in request.recipe.steps.iter_mut().filter(|step| reads_source_frames(step)) {
        step.values.supply_source(Arc::clone(&frames));
    }
    Ok(())
}

/// Whether a step reads the frames around each frame. Invalid settings are reported when it is bound.
fn reads_source_frames(step: &Step) -> bool {
    (step.filter.build)(&step.values).is_ok_and(|spec| spec.reads_source_frames())
}

fn source_is_read_once(step: &Step) -> JobError {
    let problem = "it needs the frames around each frame, and this input can be read only once: give a file, or frames=0";
    RequestError::Setting { filter: step.filter.name, error: SettingError::new("frames", problem) }.into()
}

/// Reads the images, effect files, look-up tables, grain tables and plates that settings name, and opens the track
/// files: those that need no source.
///
/// # Errors
/// [`JobError`] for the first file that cannot be read or is invalid.
pub fn load_files(recipe: &mut Recipe) -> Result<(), JobError> {
    for step in &mut recipe.steps {
        #[cfg(feature = "ffmpeg")]
        step.values.supply_library(Arc::new(grainfield_io::libav::FfmpegFilters));
        for (setting, value) in not_loaded(step, |kind| !matches!(kind, Kind::SourceFrame)) {
            let read = match (setting.kind, value) {
                (Kind::File(kind), Value::File(file)) => {
                    let name = file.name().to_owned();
                    let read =
                        load_file(kind, file).map_err(|error| mistyped(step, setting, kind, &name, error));
                    Value::File(read?)
                }
                (_, Value::Image(picture)) => {
                    let name = format!("{}: {}: {}", step.filter.name, setting.id, picture.name());
                    let frame = image(picture.name(), name)?;
                    Value::Image(picture.read(frame))
                }
                (_, other) => other,
            };
            set_value(step, setting, read)?;
        }
    }
    Ok(())
}

/// The error of a file that is not there, whose name may be meant as one of the words that stand in its place, or as a clip
/// of a host.
fn mistyped(step: &Step, setting: &Setting, kind: FileKind, name: &str, error: JobError) -> JobError {
    let clip = setting.kind.clip_number(name).map(|_| {
        "clip:0 names the first of the clips that a script of VapourSynth gives (clips=[b]); elsewhere give the name of a \
         picture, sequence or video"
            .to_owned()
    });
    match clip.or_else(|| nearest(name, kind.words().iter().copied())) {
        Some(hint) if !Path::new(name).exists() => {
            let problem = format!("there is no file '{name}': {hint}");
            let error = SettingError::new(setting.id, problem);
            RequestError::Setting { filter: step.filter.name, error }.into()
        }
        _ => error,
    }
}

fn load_file(kind: FileKind, file: FileAsset) -> Result<FileAsset, JobError> {
    let path = Path::new(file.name());
    Ok(match kind {
        FileKind::GrainTable => load_grain_table(path).map(|(table, sum)| file.read(Arc::new(table), sum))?,
        FileKind::GrainPlate => load_plate(path).map(|(plate, sum)| file.read(Arc::new(plate), sum))?,
        FileKind::Font => load_font(path).map(|(font, sum)| file.read(font, sum))?,
        FileKind::Lut => load_lut(path).map(|(lut, sum)| file.read(Arc::new(lut), sum))?,
        FileKind::TrackFile => {
            let tracks = load_tracks(path)?;
            let digest = tracks.digest();
            file.read(tracks, digest)
        }
        FileKind::Mask if kind.words().contains(&file.name()) => file.read((), 0),
        FileKind::Clip | FileKind::Mask => load_clip(path).map(|(clip, id)| file.read(clip, id))?,
        FileKind::Effect => {
            let effect = load_effect(path)?;
            let digest = effect::digest(&effect);
            file.read(effect, digest)
        }
    })
}

/// The names in settings of these kinds that have not been read yet.
fn not_loaded(step: &Step, is_wanted: impl Fn(&Kind) -> bool) -> Vec<(&'static Setting, Value)> {
    let missing = |value: &Value| match value {
        Value::Image(picture) => picture.frame().is_none(),
        Value::File(file) => file.digest().is_none(),
        _ => false,
    };
    let named = step.iter_given().filter(|(s, value)| is_wanted(&s.kind) && missing(value));
    named.map(|(s, value)| (s, value.clone())).collect()
}

fn set_value(step: &mut Step, setting: &Setting, value: Value) -> Result<(), JobError> {
    let filter = step.filter.name;
    Ok(step.set_value(setting.id, value).map_err(|error| RequestError::Setting { filter, error })?)
}

/// The picture of a file; `name` is used in errors.
fn image(file: &str, name: String) -> Result<Frame, JobError> {
    Ok(images::read(Path::new(file)).map_err(|problem| match problem {
        images::Fault::Io(cause) => SourceError::Io { name, cause },
        images::Fault::Bad(problem) => SourceError::Bad { name, problem },
        images::Fault::Differs(_) => {
            SourceError::Bad { name, problem: "the file changed while it was read".into() }
        }
    })?)
}

fn source_frame_error(
    (filter, setting): (&'static str, &Setting),
    value: impl ToString,
    cause: SourceFrameError,
) -> JobError {
    RequestError::SourceFrame { filter, setting: setting.id, value: value.to_string(), cause }.into()
}

/// One frame of the source, in R, G and B.
fn source_frame<E: From<JobError>>(
    request: &Request,
    info: &Info,
    place: (&'static str, &Setting),
    wanted: &str,
    read: ReadFrame<'_, E>,
) -> Result<Frame, E> {
    let offset = request.frame_offset;
    let error = |cause: SourceFrameError| source_frame_error(place, wanted, cause);
    let user_number = wanted.parse::<i64>().map_err(|_| error(SourceFrameError::Number))?;
    let missing = || error(NoFrame::new(info, user_number, offset).into());
    let number = user_number.checked_sub(offset).ok_or_else(missing)?;
    if number < info.first || info.last.is_some_and(|last| number > last) {
        return Err(missing().into());
    }
    let frame = read(number)?.ok_or_else(missing)?;
    Ok(still(frame.as_ref()).map_err(|e| error(e.into()))?)
}
