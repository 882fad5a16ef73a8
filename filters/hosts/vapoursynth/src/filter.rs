//! A filter in a script: created once, called from many threads.
#![allow(unsafe_code)] // the host calls it through its C interface

use crate::arguments::{CHAIN, function_name, given};
use crate::clips::{ALPHA, SecondClip, format, tagged};
use crate::ffi::{self, Api, VideoInfo};
use crate::host::{Clip, Host, MapRef, NewPicture, c_text, fail};
use grainfield_filters::catalog::Entry;
use grainfield_filters::frame::{Alpha, Depth, Family, Format, FrameTime, SecondInput};
use grainfield_filters::host::lock;
use host_kit::{BoundLook, Earlier, HostError, Look, Setup, Threads, chain_text, guarded, planes};
use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};

/// The frame property with the names of our filters that have been applied.
const EARLIER: &str = "GrainfieldFilters";
/// The number of looks that are kept for different tags: a clip usually has one set of tags.
const KEPT: usize = 8;

struct Instance {
    host: Host,
    name: String,
    clip: Clip,
    alpha: Option<Clip>,
    /// The clips that settings name as second inputs.
    clips: Vec<Arc<SecondClip>>,
    look: Look,
    offset: i64,
    /// The format of the clip, without the tags that only frames have.
    input: Format,
    /// The output: the picture, and alpha if there is one.
    output_info: (VideoInfo, Option<VideoInfo>),
    /// The first, for frames without tags, stays.
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
    let dependency = |clip: &Clip, pattern| ffi::Dependency { source: clip.node, pattern };
    let own = [Some(&instance.clip), instance.alpha.as_ref()].into_iter().flatten();
    let mut dependencies: Vec<_> = own.map(|clip| dependency(clip, ffi::PATTERN_STRICT_SPATIAL)).collect();
    dependencies.extend(instance.clips.iter().map(|second| dependency(&second.clip, ffi::PATTERN_GENERAL)));
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
    let done = guarded(|| match reason {
        ffi::REASON_INITIAL => instance.request(n, context).map(|()| ptr::null()),
        ffi::REASON_ALL_READY => instance.frame(n, context, core).map(NewPicture::into_raw),
        _ => Ok(ptr::null()),
    });
    done.unwrap_or_else(|error| {
        let text = c_text(&format!("{}: frame {n}: {error}", instance.name));
        // SAFETY: the host copies the text.
        unsafe { (instance.host.api().set_filter_error)(text.as_ptr(), context) };
        ptr::null()
    })
}

impl Instance {
    fn new(
        host: Host,
        name: &str,
        filter: Option<&'static Entry>,
        arguments: MapRef,
        core: *mut ffi::Core,
    ) -> Result<Instance, HostError> {
        let Some(clip) = arguments.clip("clip", 0) else { return fail("no clip is given") };
        let info = clip.info();
        let mut look = match filter {
            Some(filter) => Look::parse(&chain_text(filter.name, &given(filter, arguments)))?,
            None => {
                let file =
                    arguments.text("recipe", 0).map(|name| Look::open(Path::new(&name))).transpose()?;
                let chain = arguments.text("chain", 0).map(|text| Look::parse(&text)).transpose()?;
                if file.is_none() && chain.is_none() {
                    return fail("give a chain, such as \"grain=preset=35mm\", or recipe=\"NAME.toml\"");
                }
                file.unwrap_or_default().then(chain.unwrap_or_default())
            }
        };
        let second = |n| {
            let clip = arguments.clip("clips", n)?;
            let second = SecondClip::new(clip, n).map(Arc::new);
            Some(second.map_err(|e| HostError(format!("clip:{n}: {e}"))))
        };
        let clips: Vec<_> = (0..).map_while(second).collect::<Result<_, _>>()?;
        let inputs: Vec<_> = clips.iter().map(|clip| Arc::clone(clip) as Arc<dyn SecondInput>).collect();
        look = look.read(&inputs)?;
        if let Some(seed) = arguments.text("recipe_seed", 0) {
            look = look.seeded(Some(seed.trim().parse().map_err(|_| {
                HostError(format!("recipe_seed: '{seed}' is not a seed: write 0 to {}", u64::MAX))
            })?));
        }
        let alpha = arguments.clip("alpha", 0);
        let offset = arguments.int("offset").unwrap_or(0);
        if offset.unsigned_abs() > 1 << 53 {
            return fail(format!("offset: {offset} is beyond 2^53"));
        }
        let mut input = format(&info)?;
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
            clips,
            look,
            offset,
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
            all.remove(1);
        }
        all.push((format, earlier.clone(), Arc::clone(&bound)));
        Ok(bound)
    }

    fn time(&self, n: c_int) -> FrameTime {
        let time = FrameTime::of_frame(n.into(), self.input.rate).time;
        FrameTime::of_time(i64::from(n) + self.offset, time)
    }

    /// The frames of [`clips`](Instance::clips) that frame `n` reads: its tags make no difference.
    fn second_frames(&self, n: c_int) -> Result<Vec<(usize, c_int)>, HostError> {
        if self.clips.is_empty() {
            return Ok(Vec::new());
        }
        let (bound, at) = (self.bound(self.input, &Earlier::default())?, self.time(n));
        let own = |(input, place): (&dyn SecondInput, i64)| {
            let clip = self.clips.iter().position(|clip| ptr::addr_eq(Arc::as_ptr(clip), input))?;
            Some((clip, c_int::try_from(place).ok()?))
        };
        let mut all: Vec<_> = bound.second_pictures(&at).into_iter().filter_map(own).collect();
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn request(&self, n: c_int, context: *mut ffi::FrameContext) -> Result<(), HostError> {
        [Some(&self.clip), self.alpha.as_ref()].into_iter().flatten().for_each(|c| c.request(n, context));
        self.second_frames(n)?.into_iter().for_each(|(i, n)| self.clips[i].clip.request(n, context));
        Ok(())
    }

    fn frame(
        &self,
        n: c_int,
        context: *mut ffi::FrameContext,
        core: *mut ffi::Core,
    ) -> Result<NewPicture, HostError> {
        let picture = self.clip.requested(n, context)?;
        let alpha = self.alpha.as_ref().map(|clip| clip.requested(n, context)).transpose()?;
        let second = self.second_frames(n)?.into_iter();
        let _held = second.map(|(i, n)| self.clips[i].hold(n, context)).collect::<Result<Vec<_>, _>>()?;
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
        // The host requests many frames at the same time, but a simulation renders one at a time.
        let threads = if bound.is_simulation() { Threads::Pool } else { Threads::Caller };
        bound.run_between(&self.time(n), threads, from, to)?;
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
