//! A filter in a script: created once, called from many threads.
#![allow(unsafe_code)] // the host calls it through its C interface

use crate::arguments::{CHAIN, function_name, given};
use crate::ffi::{self, Api, VideoInfo};
use crate::host::{Clip, Host, MapRef, NewPicture, c_text};
use grainfield_filters::catalog::Entry;
use grainfield_filters::frame::{
    Alpha, ColorRange, Depth, Family, FieldOrder, Format, FrameTime, Matrix, Primaries, Siting, Transfer,
};
use grainfield_filters::host::lock;
use grainfield_filters::ratio::Ratio;
use host_kit::{BoundLook, Earlier, HostError, Look, Setup, Threads, guarded, planes};
use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};

/// The frame property with the names of our filters that have been applied.
const EARLIER: &str = "GrainfieldFilters";
/// The frame property with the alpha plane.
const ALPHA: &str = "_Alpha";
/// The number of looks that are kept for different tags: a clip usually has one set of tags.
const KEPT: usize = 8;

struct Instance {
    host: Host,
    name: String,
    clip: Clip,
    alpha: Option<Clip>,
    look: Look,
    offset: i64,
    rate: Ratio,
    /// The format of the clip, without the tags that only frames have.
    input: Format,
    /// The output: the picture, and alpha if there is one.
    output_info: (VideoInfo, Option<VideoInfo>),
    bound: Mutex<Vec<(Format, Earlier, Arc<BoundLook>)>>,
}

/// Creates a filter: a function of the plugin. The data is the catalog's entry, or null.
///
/// # Safety
///
/// Called by the host.
pub(crate) unsafe extern "C" fn create(
    arguments: *const ffi::Map,
    out: *mut ffi::Map,
    data: *mut c_void,
    core: *mut ffi::Core,
    api: *const Api,
) {
    // SAFETY: guaranteed by the host; the data was registered by us and lives as long as the process.
    let (host, arguments, filter) =
        unsafe { (Host::new(api), MapRef::new(Host::new(api), arguments), data.cast::<Entry>().as_ref()) };
    let name = filter.map_or_else(|| CHAIN.to_owned(), |f| function_name(f.name));
    let instance = match guarded(|| Instance::new(host, &name, filter, arguments, core)) {
        Ok(instance) => Box::new(instance),
        Err(error) => {
            let text = c_text(&format!("{name}: {error}"));
            // SAFETY: the map is the host's, which copies the text.
            unsafe { (host.api().map_set_error)(out, text.as_ptr()) };
            return;
        }
    };
    let dependency =
        |clip: &Clip| ffi::Dependency { source: clip.node, pattern: ffi::PATTERN_STRICT_SPATIAL };
    let dependencies: Vec<_> =
        [Some(&instance.clip), instance.alpha.as_ref()].into_iter().flatten().map(dependency).collect();
    let (name, info) = (c_text(&name), instance.output_info.0);
    // SAFETY: the host copies everything except the instance, which it returns to `free` once.
    unsafe {
        (host.api().create_video_filter)(
            out,
            name.as_ptr(),
            &info,
            get_frame,
            free,
            ffi::MODE_PARALLEL,
            dependencies.as_ptr(),
            dependencies.len() as c_int,
            Box::into_raw(instance).cast(),
            core,
        );
    }
}

unsafe extern "C" fn free(instance: *mut c_void, _: *mut ffi::Core, _: *const Api) {
    // SAFETY: from `create`, and called once.
    drop(unsafe { Box::from_raw(instance.cast::<Instance>()) });
}

unsafe extern "C" fn get_frame(
    n: c_int,
    reason: c_int,
    instance: *mut c_void,
    _: *mut *mut c_void,
    context: *mut ffi::FrameContext,
    core: *mut ffi::Core,
    _: *const Api,
) -> *const ffi::Frame {
    // SAFETY: from `create`, and not freed while a frame is requested.
    let instance = unsafe { &*instance.cast::<Instance>() };
    match reason {
        ffi::REASON_INITIAL => {
            instance.clip.request(n, context);
            instance.alpha.iter().for_each(|alpha| alpha.request(n, context));
        }
        ffi::REASON_ALL_READY => match guarded(|| instance.frame(n, context, core)) {
            Ok(frame) => return frame.into_raw(),
            Err(error) => {
                let text = c_text(&format!("{}: frame {n}: {error}", instance.name));
                // SAFETY: the host copies the text.
                unsafe { (instance.host.api().set_filter_error)(text.as_ptr(), context) };
            }
        },
        _ => {}
    }
    ptr::null()
}

fn fail<T>(text: impl Into<String>) -> Result<T, HostError> {
    Err(HostError(text.into()))
}

impl Instance {
    fn new(
        host: Host,
        name: &str,
        filter: Option<&'static Entry>,
        arguments: MapRef,
        core: *mut ffi::Core,
    ) -> Result<Instance, HostError> {
        let Some(clip) = arguments.clip("clip") else { return fail("no clip is given") };
        let info = clip.info();
        let mut look = match filter {
            Some(filter) => Look::of_filter(filter.name, &given(filter, arguments))?,
            None => {
                let file =
                    arguments.text("recipe", 0).map(|name| Look::of_file(Path::new(&name))).transpose()?;
                let chain = arguments.text("chain", 0).map(|text| Look::of_chain(&text)).transpose()?;
                if file.is_none() && chain.is_none() {
                    return fail("give a chain, such as \"grain=preset=35mm\", or recipe=\"NAME.toml\"");
                }
                file.unwrap_or_default().then(chain.unwrap_or_default())
            }
        };
        if let Some(seed) = arguments.text("recipe_seed", 0) {
            look = look.seeded(Some(seed.trim().parse().map_err(|_| {
                HostError(format!("recipe_seed: '{seed}' is not a seed: write 0 to {}", u64::MAX))
            })?));
        }
        let alpha = arguments.clip("alpha");
        let offset = arguments.int("offset").unwrap_or(0);
        if offset.unsigned_abs() > 1 << 53 {
            return fail(format!("offset: {offset} is beyond 2^53"));
        }
        let Some(rate) = Ratio::new(info.fps_num, info.fps_den).filter(|r| *r > Ratio::ZERO) else {
            return fail("the clip has no constant rate: give it one with std.AssumeFPS");
        };
        let mut input = format(&info)?;
        input.rate = rate;
        if let Some(alpha) = &alpha {
            let own = alpha.info();
            let wanted =
                (ffi::GRAY, info.format.sample_type, info.format.bits, info.width, info.height, info.frames);
            let is = (
                own.format.color_family,
                own.format.sample_type,
                own.format.bits,
                own.width,
                own.height,
                own.frames,
            );
            if is != wanted {
                return fail("alpha: this must be a grey clip of the same depth, size and length");
            }
            input.alpha = Alpha::Straight;
        }
        for (step, id, text) in look.source_frames() {
            let own = text.parse::<i64>().ok().and_then(|n| c_int::try_from(n.checked_sub(offset)?).ok());
            let Some(own) = own.filter(|n| (0..info.frames).contains(n)) else {
                let last = offset + i64::from(info.frames) - 1;
                return fail(format!("{id}={text}: the clip has the frames {offset} to {last}"));
            };
            let picture = clip.frame(own)?;
            let format = Format { alpha: Alpha::None, ..tagged(input, picture.properties()) };
            // SAFETY: the frame lives, has this format, and is not written.
            let still = host_kit::still(unsafe { planes::read(format, &picture.planes(&format)) }?)?;
            look.give_source_frame((step, id), still)?;
        }
        let mut instance = Instance {
            host,
            name: name.to_owned(),
            clip,
            alpha,
            look,
            offset,
            rate,
            input,
            output_info: (info, None),
            bound: Mutex::default(),
        };
        // Report errors in settings now, not with the first frame.
        let bound = instance.bound(input, &Earlier::default())?;
        instance.output_info = instance.info(bound.output(), &info, core)?;
        Ok(instance)
    }

    /// The host's description of the output.
    fn info(
        &self,
        output: &Format,
        input: &VideoInfo,
        core: *mut ffi::Core,
    ) -> Result<(VideoInfo, Option<VideoInfo>), HostError> {
        let (sample, bits) = match output.depth {
            Depth::Bits(bits) => (0, bits.into()),
            Depth::Float => (1, 32),
        };
        let family = match output.family {
            Family::Gray => ffi::GRAY,
            Family::Rgb => ffi::RGB,
            Family::Yuv => ffi::YUV,
        };
        let of = |family, (sub_w, sub_h): (u8, u8)| {
            let mut format = ffi::VideoFormat::default();
            // SAFETY: the host fills in the format.
            let known = unsafe {
                let query = self.host.api().query_video_format;
                query(&mut format, family, sample, bits, sub_w.into(), sub_h.into(), core) != 0
            };
            let side = |n: u32| c_int::try_from(n).unwrap_or(0);
            let info = VideoInfo { format, width: side(output.width), height: side(output.height), ..*input };
            if known { Ok(info) } else { fail(format!("VapourSynth has no format for {}", output.name())) }
        };
        let alpha = output.has_alpha().then(|| of(ffi::GRAY, (0, 0))).transpose()?;
        Ok((of(family, output.subsampling)?, alpha))
    }

    /// The look bound to the format of a frame.
    fn bound(&self, format: Format, earlier: &Earlier) -> Result<Arc<BoundLook>, HostError> {
        let mut all = lock(&self.bound);
        if let Some((_, _, bound)) = all.iter().find(|(f, e, _)| (f, e) == (&format, earlier)) {
            return Ok(Arc::clone(bound));
        }
        let last = self.offset + i64::from(self.clip.info().frames) - 1;
        let setup = Setup { last: Some(last), earlier: earlier.clone(), ..Setup::default() };
        let bound = Arc::new(BoundLook::bind(&self.look, format, &setup)?);
        if all.len() == KEPT {
            all.remove(0);
        }
        all.push((format, earlier.clone(), Arc::clone(&bound)));
        Ok(bound)
    }

    fn frame(
        &self,
        n: c_int,
        context: *mut ffi::FrameContext,
        core: *mut ffi::Core,
    ) -> Result<NewPicture, HostError> {
        let missing = || HostError("the host gave no frame".into());
        let picture = self.clip.requested(n, context).ok_or_else(missing)?;
        let alpha = match &self.alpha {
            Some(clip) => Some(clip.requested(n, context).ok_or_else(missing)?),
            None => None,
        };
        let promised = [(Some(&picture), Some(&self.clip)), (alpha.as_ref(), self.alpha.as_ref())];
        if promised
            .iter()
            .any(|(p, clip)| matches!((p, clip), (Some(p), Some(clip)) if !p.is_of(&clip.info())))
        {
            return fail("the frame is of another format or size than its clip");
        }
        let properties = picture.properties();
        let earlier = Earlier::read(&properties.text(EARLIER, 0).unwrap_or_default());
        let format = tagged(self.input, properties);
        let bound = self.bound(format, &earlier)?;
        let output = *bound.output();
        let (width, height) = (c_int::try_from(output.width).ok(), c_int::try_from(output.height).ok());
        if (width, height) != (Some(self.output_info.0.width), Some(self.output_info.0.height)) {
            return fail("the frame's properties would change the size of the clip");
        }
        let mut made = NewPicture::new(self.host, &self.output_info.0, &picture, core);
        let mut made_alpha = alpha
            .as_ref()
            .zip(self.output_info.1.as_ref())
            .map(|(like, info)| NewPicture::new(self.host, info, like, core));
        let grey = |format: &Format| Format { family: Family::Gray, alpha: Alpha::None, ..*format };
        let mut from = picture.planes(&format);
        from.extend(alpha.iter().flat_map(|a| a.planes(&grey(&format))));
        let mut to = made.planes(&output);
        to.extend(made_alpha.iter_mut().flat_map(|a| a.planes(&grey(&output))));
        // SAFETY: both frames live and have the formats that were checked; the new one is exclusively ours.
        let (from, to) = unsafe { (planes::read(format, &from)?, planes::write(output, &to)?) };
        let number = i64::from(n);
        let time = FrameTime::of_frame(number, self.rate).time;
        let at = FrameTime::of_time(number + self.offset, time);
        // The host requests many frames at the same time, but a simulation renders one at a time.
        let threads = if bound.is_simulation() { Threads::Pool } else { Threads::Caller };
        bound.run_between(&at, threads, from, to)?;
        if let Some(alpha) = made_alpha {
            made.set_frame(ALPHA, alpha);
        }
        if output.aspect != format.aspect {
            made.set_int("_SARNum", output.aspect.num());
            made.set_int("_SARDen", output.aspect.den());
        }
        if output.matrix != format.matrix {
            made.set_int("_Matrix", output.matrix.0.into());
        }
        made.set_text(EARLIER, earlier.and(self.look.recipe()).text());
        Ok(made)
    }
}

/// The format of a clip, without the properties of frames.
fn format(info: &VideoInfo) -> Result<Format, HostError> {
    let (width, height) = (u32::try_from(info.width).unwrap_or(0), u32::try_from(info.height).unwrap_or(0));
    if width == 0 || height == 0 || info.format.color_family == 0 {
        return fail("the clip's format or size varies: it has to stay the same");
    }
    let family = match info.format.color_family {
        ffi::GRAY => Family::Gray,
        ffi::RGB => Family::Rgb,
        _ => Family::Yuv,
    };
    let depth = match (info.format.sample_type, info.format.bits) {
        (1, 32) => Depth::Float,
        (0, bits @ 8..=16) => Depth::Bits(bits as u8),
        (1, bits) => {
            return fail(format!("{bits}-bit float is not supported: convert to 32 bits with resize"));
        }
        (_, bits) => {
            return fail(format!("{bits} bits are not supported: convert to 8 to 16, or to 32-bit float"));
        }
    };
    let sub = |n: c_int| u8::try_from(n).unwrap_or(u8::MAX);
    Ok(Format::new(width, height, family, depth, (sub(info.format.sub_w), sub(info.format.sub_h))))
}

/// Adds the tags of a frame.
fn tagged(format: Format, properties: MapRef) -> Format {
    let code = |key| properties.int(key).and_then(|v| u8::try_from(v).ok());
    let range = match (properties.int("_Range"), properties.int("_ColorRange")) {
        (Some(1), _) | (None, Some(0)) => ColorRange::Full,
        (Some(0), _) | (None, Some(1)) => ColorRange::Limited,
        _ => format.range,
    };
    let siting = match properties.int("_ChromaLocation") {
        Some(0) => Siting::Left,
        Some(1) => Siting::Center,
        Some(2) => Siting::TopLeft,
        Some(3) => Siting::Top,
        Some(4) => Siting::BottomLeft,
        Some(5) => Siting::Bottom,
        _ => format.siting,
    };
    let fields = match properties.int("_FieldBased") {
        Some(0) => FieldOrder::Progressive,
        Some(1) => FieldOrder::BottomFirst,
        Some(2) => FieldOrder::TopFirst,
        _ => format.fields,
    };
    let aspect = properties.int("_SARNum").zip(properties.int("_SARDen"));
    Format {
        range,
        siting: if format.family == Family::Yuv { siting } else { format.siting },
        fields,
        matrix: code("_Matrix").map_or(format.matrix, Matrix),
        primaries: code("_Primaries").map_or(format.primaries, Primaries),
        transfer: code("_Transfer").map_or(format.transfer, Transfer),
        aspect: aspect
            .and_then(|(num, den)| Ratio::new(num, den))
            .filter(|a| *a > Ratio::ZERO)
            .unwrap_or(format.aspect),
        ..format
    }
}
