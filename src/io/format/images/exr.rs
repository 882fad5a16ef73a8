//! OpenEXR. The colour channels of one layer are the picture; all other data of the file are kept beside it, so that
//! OpenEXR to OpenEXR loses nothing.
//!
//! The picture is the display window, as far as the layer covers it: the rest is 0. A layer that reaches beyond the
//! display window is the picture itself, and its position is kept.

use super::{Fault, Header, Input, Kind, Meta, accept, check_held, check_size, header_rate, tagged};
use ::exr::image::{Blocks, Encoding, FlatImage, FlatSamples, Image, Layer};
use ::exr::meta::{
    MetaData,
    attribute::{ChannelDescription, Chromaticities, Rational, TimeCode},
    header::Header as Part,
};
use ::exr::prelude::{
    AnyChannel, AnyChannels, Compression, LayerAttributes, LineOrder, ReadChannels, ReadLayers, SampleType,
    Text, Vec2, WritableImage, f16, read,
};
use grainfield_filters::frame::{Alpha, Depth, Family, Format, Frame, Transfer};
use grainfield_filters::pixel::convert::chromaticities;
use grainfield_filters::ratio::Ratio;
use std::io::{BufRead, Cursor, Seek};

/// The highest compression ratio of OpenEXR, with a margin: DWA packs a plain block of 8x8 half samples into a word,
/// and compresses words with deflate.
const MAX_RATIO: u64 = 1 << 16;

/// The largest display window around a smaller layer, in samples: a few bytes of file must not take any memory.
const MAX_WINDOW: usize = 1 << 26;

/// The largest number of channels and layers of a file.
const MAX_CHANNELS: usize = 4096;

/// An OpenEXR file without the samples of the picture.
#[derive(Debug, Clone)]
pub struct ExrMetadata {
    image: FlatImage,
    layer: usize,
    /// The channels of the layer that are planes: by plane, channel number and stored type.
    channels: Vec<(usize, SampleType)>,
}

impl ExrMetadata {
    /// Removes the data of a single frame.
    pub(super) fn forget_frame(&mut self) {
        self.image.attributes.time_code = None;
        for layer in &mut self.image.layer_data {
            layer.attributes.film_key_code = None;
            layer.attributes.capture_date = None;
        }
    }
}

/// How samples are stored; by default as in the source, and in a new file as float with ZIP, which all programs read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Storing {
    compression: Option<Compression>,
    samples: Option<SampleType>,
}

impl Storing {
    /// The user's choice: `compression=zip` and `format=half`, as FFmpeg's encoder and OpenEXR name them.
    pub(crate) fn parse(options: &[(String, String)]) -> Result<Storing, String> {
        let mut chosen = Storing::default();
        for (key, value) in options {
            match (key.as_str(), value.as_str()) {
                ("format", "half") => chosen.samples = Some(SampleType::F16),
                ("format", "float") => chosen.samples = Some(SampleType::F32),
                ("compression", name) => {
                    chosen.compression = Some(match name {
                        "none" => Compression::Uncompressed,
                        "rle" => Compression::RLE,
                        "zips" | "zip1" => Compression::ZIP1,
                        "zip" | "zip16" => Compression::ZIP16,
                        "piz" => Compression::PIZ,
                        _ => return Err(format!("compression={name}: give none, rle, zips, zip or piz")),
                    });
                }
                ("format", name) => return Err(format!("format={name}: give half or float")),
                _ => return Err(format!("{key}={value}: OpenEXR has the options compression and format")),
            }
        }
        Ok(chosen)
    }
}

/// The contents of a file besides its picture.
#[derive(Debug, Clone)]
pub struct Names {
    /// Channels of this layer and of others.
    channels: Vec<String>,
    /// Attributes of the picture.
    attributes: Vec<String>,
    size: (u32, u32),
    /// Number of planes of the picture.
    planes: usize,
}

impl Names {
    fn new(part: &Part, channels: Vec<String>, format: &Format) -> Names {
        let (shared, own) = (&part.shared_attributes, &part.own_attributes);
        let named = [
            ("chromaticities", shared.chromaticities.is_some()),
            ("time code", shared.time_code.is_some()),
            ("owner", own.owner.is_some()),
            ("comments", own.comments.is_some()),
            ("capture date", own.capture_date.is_some()),
            (
                "geographic position",
                own.longitude.is_some() || own.latitude.is_some() || own.altitude.is_some(),
            ),
            ("focus", own.focus.is_some()),
            ("exposure", own.exposure.is_some()),
            ("aperture", own.aperture.is_some()),
            ("film speed", own.iso_speed.is_some()),
            ("white luminance", own.white_luminance.is_some()),
            ("adopted neutral", own.adopted_neutral.is_some()),
            ("rendering transform", own.rendering_transform_name.is_some()),
            ("look", own.look_modification_transform_name.is_some()),
            ("film key code", own.film_key_code.is_some()),
            ("environment map", own.environment_map.is_some()),
            ("frames a second", own.frames_per_second.is_some()),
            ("views", own.multi_view_names.is_some() || own.view_name.is_some()),
            ("camera", own.world_to_camera.is_some() || own.world_to_normalized_device.is_some()),
            ("preview", own.preview.is_some()),
        ];
        let (size, at) = picture_window(part);
        let window = shared.display_window;
        let mut attributes: Vec<String> =
            named.into_iter().filter(|n| n.1).map(|n| format!("the {}", n.0)).collect();
        if (window.position, window.size) != (at, size) {
            attributes.push("the position in the display window".into());
        }
        let mut others: Vec<String> =
            shared.other.keys().chain(own.other.keys()).map(|name| name.to_string()).collect();
        others.sort();
        attributes.extend(some("attributes", &others));
        let size = (format.width, format.height);
        Names { channels, attributes, size, planes: format.planes() }
    }

    /// The contents that are lost in a file with pictures of this format, OpenEXR or another.
    pub(super) fn lost(&self, in_exr: Option<&Format>) -> Vec<String> {
        let channels = some("channels", &self.channels);
        match in_exr {
            Some(f) if (f.width, f.height, f.planes()) == (self.size.0, self.size.1, self.planes) => {
                Vec::new()
            }
            // a new picture
            Some(_) => channels.into_iter().collect(),
            None => channels.into_iter().chain(self.attributes.iter().cloned()).collect(),
        }
    }
}

/// A text with the first few names.
fn some(what: &str, names: &[String]) -> Option<String> {
    const MOST: usize = 8;
    let more = if names.len() > MOST { " ..." } else { "" };
    let few = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("{what} ({few}{more})"))
}

impl From<::exr::error::Error> for Fault {
    fn from(e: ::exr::error::Error) -> Fault {
        use ::exr::error::Error;
        match e {
            Error::Io(e) => e.into(),
            Error::NotSupported(e) => {
                Fault::Bad(format!("this kind of OpenEXR cannot be read or written: {e}"))
            }
            Error::Invalid(e) => Fault::Bad(format!("the OpenEXR is damaged: {e}")),
            Error::Aborted => Fault::Bad("reading was stopped".into()),
        }
    }
}

/// The channels in a list that are the picture, by plane.
fn colors(channels: &[ChannelDescription]) -> Option<(Family, Vec<usize>)> {
    let find = |name: &str| {
        channels
            .iter()
            .position(|c| c.name.eq(name) && c.sampling == Vec2(1, 1) && c.sample_type != SampleType::U32)
    };
    let (family, mut planes) = match (find("G"), find("B"), find("R"), find("Y")) {
        (Some(g), Some(b), Some(r), _) => (Family::Rgb, vec![g, b, r]),
        (.., Some(y)) => (Family::Gray, vec![y]),
        _ => return None,
    };
    planes.extend(find("A"));
    Some((family, planes))
}

/// Size and position of the picture of a part: the display window around its layer.
fn picture_window(part: &Part) -> (Vec2<usize>, Vec2<i32>) {
    let (window, at, size) =
        (part.shared_attributes.display_window, part.own_attributes.layer_position, part.layer_size);
    let inside = |at: i32, size: usize, from: i32, whole: usize| {
        let before = i64::from(at) - i64::from(from);
        before >= 0 && before.saturating_add(size as i64) <= whole as i64
    };
    let whole = part.channels.list.iter().all(|c| c.sampling == Vec2(1, 1));
    let covers = inside(at.0, size.0, window.position.0, window.size.0)
        && inside(at.1, size.1, window.position.1, window.size.1);
    let bounded = window.size.0.checked_mul(window.size.1).is_some_and(|all| all <= MAX_WINDOW);
    if whole && covers && bounded { (window.size, window.position) } else { (size, at) }
}

/// Extends a layer to these bounds around it, with samples of 0.
fn extend(layer: &mut Layer<AnyChannels<FlatSamples>>, size: Vec2<usize>, position: Vec2<i32>) {
    let from = layer.size;
    let at = layer.attributes.layer_position - position;
    let [x, y] = [at.0, at.1].map(|n| n.max(0) as usize);
    if from == size {
        return;
    }
    fn extended<T: Copy>(
        rows: &[T],
        zero: T,
        [x, y]: [usize; 2],
        from: Vec2<usize>,
        to: Vec2<usize>,
    ) -> Vec<T> {
        let mut all = vec![zero; to.0 * to.1];
        for (row, out) in rows.chunks_exact(from.0).zip(all.chunks_exact_mut(to.0).skip(y)) {
            out[x..x + from.0].copy_from_slice(row);
        }
        all
    }
    for channel in &mut layer.channel_data.list {
        channel.sample_data = match &channel.sample_data {
            FlatSamples::F16(v) => FlatSamples::F16(extended(v, f16::ZERO, [x, y], from, size)),
            FlatSamples::F32(v) => FlatSamples::F32(extended(v, 0.0, [x, y], from, size)),
            FlatSamples::U32(v) => FlatSamples::U32(extended(v, 0, [x, y], from, size)),
        };
    }
    layer.size = size;
    layer.attributes.layer_position = position;
}

/// The part that is the picture: one without a name if there is one, else the first with colour.
fn main_part(parts: &[Part]) -> Result<(usize, Format, Vec<usize>), Fault> {
    let nameless = |p: &Part| p.own_attributes.layer_name.as_ref().is_none_or(|n| n.bytes().is_empty());
    let with_color = |(i, p): (usize, &Part)| Some((i, colors(&p.channels.list).filter(|_| !p.deep)?));
    let found = parts
        .iter()
        .enumerate()
        .filter(|(_, p)| nameless(p))
        .find_map(with_color)
        .or_else(|| parts.iter().enumerate().find_map(with_color));
    let Some((i, (family, planes))) = found else {
        let names = parts.iter().flat_map(|p| &p.channels.list).take(16).map(|c| c.name.to_string());
        return Err(Fault::Bad(format!(
            "no layer has the channels R, G, B or Y (half or float); its channels are {}",
            names.collect::<Vec<_>>().join(", ")
        )));
    };
    let part = &parts[i];
    let Vec2(width, height) = picture_window(part).0;
    let (width, height) = check_size(width as u64, height as u64, 16)?;
    let has_alpha = planes.len() == if family == Family::Rgb { 4 } else { 2 };
    let alpha = if has_alpha { Alpha::Premultiplied } else { Alpha::None };
    let mut format = tagged(Format {
        alpha,
        transfer: Transfer::LINEAR,
        ..Format::new(width, height, family, Depth::Float, (0, 0))
    });
    format.aspect = aspect(part.shared_attributes.pixel_aspect);
    Ok((i, format, planes))
}

fn aspect(value: f32) -> Ratio {
    if value > 0.001 && value < 1000.0 {
        Ratio::new((f64::from(value) * 1e6 + 0.5) as i64, 1_000_000).unwrap_or(Ratio::ZERO)
    } else {
        Ratio::ZERO
    }
}

/// Reads the heads of the parts and checks their sizes before memory is allocated for them.
fn parts(input: &mut Input) -> Result<Vec<Part>, Fault> {
    let meta = MetaData::read_from_buffered(&mut input.reader, false)?;
    input.reader.rewind()?;
    let parts = meta.headers.to_vec();
    let mut total = 0u64;
    let mut channels = 0;
    for part in &parts {
        let bytes: usize = part.channels.list.iter().map(|c| c.sample_type.bytes_per_sample()).sum();
        let (w, h) = check_size(part.layer_size.0 as u64, part.layer_size.1 as u64, bytes as u64)?;
        // Only the picture is extended, but which layer that is follows from the heads.
        let Vec2(whole_w, whole_h) = picture_window(part).0;
        let (whole_w, whole_h) = check_size(whole_w as u64, whole_h as u64, bytes as u64)?;
        total += u64::from(whole_w) * u64::from(whole_h) * bytes as u64;
        if !part.deep {
            check_held(input.len, (w, h), u64::from(w) * u64::from(h) * bytes as u64, MAX_RATIO)?;
        }
        channels += part.channels.list.len();
        if part.channels.list.iter().any(|c| c.sampling.0 == 0 || c.sampling.1 == 0) {
            return Err(Fault::Bad("the OpenEXR is damaged: a channel has no samples".into()));
        }
    }
    if total > super::MAX_BYTES {
        return Err(Fault::Bad(format!(
            "all layers take {total} bytes: at most {} are possible",
            super::MAX_BYTES
        )));
    }
    if channels > MAX_CHANNELS {
        return Err(Fault::Bad(format!("{channels} channels: at most {MAX_CHANNELS} are possible")));
    }
    Ok(parts)
}

pub(super) fn probe(mut input: Input) -> Result<Header, Fault> {
    let parts = parts(&mut input)?;
    let (main, format, planes) = main_part(&parts)?;
    let part = &parts[main];
    let types: Vec<_> = planes.iter().map(|&c| part.channels.list[c].sample_type).collect();
    let (window, at) = (part.shared_attributes.display_window, part.own_attributes.layer_position);
    let others: Vec<String> = parts
        .iter()
        .enumerate()
        .flat_map(|(i, p)| p.channels.list.iter().enumerate().map(move |(c, channel)| (i, c, p, channel)))
        .filter(|(i, c, ..)| *i != main || !planes.contains(c))
        .map(|(_, _, p, channel)| match &p.own_attributes.layer_name {
            Some(name) if !name.bytes().is_empty() => format!("{name}.{}", channel.name),
            _ => channel.name.to_string(),
        })
        .collect();
    let half = types.iter().all(|&t| t == SampleType::F16);
    let mut details = vec![
        ("stored".to_owned(), if half { "half" } else { "float" }.to_owned()),
        ("compression".to_owned(), part.compression.to_string()),
        (
            "display window".to_owned(),
            format!("{}x{} at {},{}", window.size.0, window.size.1, window.position.0, window.position.1),
        ),
        (
            "data window".to_owned(),
            format!("{}x{} at {},{}", part.layer_size.0, part.layer_size.1, at.0, at.1),
        ),
    ];
    if !others.is_empty() {
        details.push(("kept channels".to_owned(), others.join(", ")));
    }
    let mut notes = Vec::new();
    if parts.iter().any(|p| p.blocks.has_tiles() && levels(p)) {
        notes.push("smaller versions of the picture (mip maps) are not kept".to_owned());
    }
    if let Some(p) = parts.iter().find(|p| !writable(p.compression)) {
        notes.push(format!(
            "{} compression can be read but not written: an OpenEXR output will use ZIP",
            p.compression
        ));
    }
    let exr_names = Some(Box::new(Names::new(part, others, &format)));
    let rate = part.own_attributes.frames_per_second.and_then(rate);
    Ok(Header { kind: Kind::Exr, format, meta: Meta { exr_names, rate, ..Meta::default() }, details, notes })
}

/// A timecode of up to 30 frames a second.
fn time_code(text: &str) -> Option<TimeCode> {
    let mut parts = text.split([':', ';']).map(|part| part.parse::<u8>().ok());
    let mut part = || parts.next().flatten();
    let (hours, minutes, seconds, frame) = (part()?, part()?, part()?, part().filter(|n| *n < 30)?);
    Some(TimeCode {
        hours,
        minutes,
        seconds,
        frame,
        drop_frame: text.contains(';'),
        color_frame: false,
        field_phase: false,
        binary_group_flags: [false; 3],
        binary_groups: [0; 8],
    })
}

fn rational(rate: Ratio) -> Option<Rational> {
    Some((rate.num().try_into().ok().filter(|frames| *frames > 0)?, rate.den().try_into().ok()?))
}

/// The frame rate in the attribute `framesPerSecond`.
fn rate((frames, seconds): Rational) -> Option<Ratio> {
    header_rate(Ratio::new(frames.into(), seconds.into())?)
}

fn levels(part: &Part) -> bool {
    use ::exr::meta::{BlockDescription, attribute::LevelMode};
    matches!(part.blocks, BlockDescription::Tiles(t) if t.level_mode != LevelMode::Singular)
}

pub(super) fn decode(mut input: Input, want: &Format, frame: &mut Frame) -> Result<Meta, Fault> {
    let parts = parts(&mut input)?;
    let (layer, format, _) = main_part(&parts)?;
    accept(&format, want, frame)?;
    let mut image = read_image(input.reader)?;
    // the library sorts channels, so those of the picture are searched again
    let gone = || Fault::Bad("the OpenEXR is damaged: its layers differ from those in its header".into());
    let found = image.layer_data.get(layer).and_then(|l| colors(&descriptions(l)));
    let (_, planes) = found.ok_or_else(gone)?;
    let main = &mut image.layer_data[layer];
    let (size, position) = picture_window(&parts[layer]);
    if main.size == parts[layer].layer_size {
        extend(main, size, position);
    }
    if main.size != Vec2(format.width as usize, format.height as usize) || planes.len() != format.planes() {
        return Err(gone());
    }
    let mut channels = Vec::new();
    let width = format.width as usize;
    for (p, c) in planes.into_iter().enumerate() {
        let samples = &mut main.channel_data.list[c].sample_data;
        match std::mem::replace(samples, FlatSamples::F32(Vec::new())) {
            FlatSamples::F16(v) => {
                channels.push((c, SampleType::F16));
                for (y, row) in v.chunks_exact(width).enumerate() {
                    let out = frame.row_mut::<f32>(p, y);
                    out.iter_mut().zip(row).for_each(|(o, s)| *o = s.to_f32());
                }
            }
            FlatSamples::F32(v) => {
                channels.push((c, SampleType::F32));
                for (y, row) in v.chunks_exact(width).enumerate() {
                    frame.row_mut::<f32>(p, y).copy_from_slice(row);
                }
            }
            FlatSamples::U32(_) => return Err(gone()),
        }
    }
    Ok(Meta { exr: Some(Box::new(ExrMetadata { image, layer, channels })), ..Meta::default() })
}

fn read_image(reader: impl BufRead + Seek) -> Result<FlatImage, Fault> {
    let reading = read().no_deep_data().largest_resolution_level().all_channels().all_layers();
    Ok(reading.all_attributes().non_parallel().from_buffered(reader)?)
}

fn descriptions(layer: &Layer<AnyChannels<FlatSamples>>) -> Vec<ChannelDescription> {
    let describe = |c: &AnyChannel<FlatSamples>| ChannelDescription {
        name: c.name.clone(),
        sample_type: match c.sample_data {
            FlatSamples::F16(_) => SampleType::F16,
            FlatSamples::F32(_) => SampleType::F32,
            FlatSamples::U32(_) => SampleType::U32,
        },
        quantize_linearly: c.quantize_linearly,
        sampling: c.sampling,
    };
    layer.channel_data.list.iter().map(describe).collect()
}

/// Plane `p` as samples of a channel. Half floats are rounded to nearest, ties to even.
fn samples(frame: &Frame, p: usize, stored: SampleType) -> FlatSamples {
    let rows = frame.plane(p).rows().map(|y| frame.row::<f32>(p, y));
    match stored {
        SampleType::F16 => FlatSamples::F16(rows.flatten().map(|&v| f16::from_f32(v)).collect()),
        _ => FlatSamples::F32(rows.flatten().copied().collect()),
    }
}

pub(super) fn encode(
    frame: &Frame,
    meta: Option<&Meta>,
    storing: Storing,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let format = frame.format();
    let size = Vec2(format.width as usize, format.height as usize);
    let kept = meta.and_then(|m| m.exr.as_deref());
    let fits = |k: &&ExrMetadata| {
        k.channels.len() == format.planes() && k.image.layer_data.get(k.layer).is_some_and(|l| l.size == size)
    };
    let image = match kept.filter(fits) {
        Some(kept) => {
            let mut image = kept.image.clone();
            for (p, &(c, stored)) in kept.channels.iter().enumerate() {
                let stored = storing.samples.unwrap_or(stored);
                image.layer_data[kept.layer].channel_data.list[c].sample_data = samples(frame, p, stored);
            }
            image
        }
        None => fresh(frame, size, kept, meta, storing.samples),
    };
    let mut image = image;
    for layer in &mut image.layer_data {
        if let Some(stated) = &mut layer.attributes.frames_per_second
            && rate(*stated).is_some_and(|rate| rate != format.rate)
        {
            *stated = rational(format.rate).unwrap_or(*stated);
        }
        if let Some(compression) = storing.compression {
            layer.encoding.compression = compression;
        }
        // compressions that the library can read but not write are replaced by the nearest lossless one
        if !writable(layer.encoding.compression) {
            layer.encoding.compression = Compression::ZIP16;
        }
    }
    let mut cursor = Cursor::new(std::mem::take(out));
    let written = image.write().non_parallel().to_buffered(&mut cursor);
    *out = cursor.into_inner();
    Ok(written?)
}

fn writable(compression: Compression) -> bool {
    use Compression::*;
    !matches!(compression, DWAA(_) | DWAB(_) | HTJ2K32 | HTJ2K256)
}

/// A new picture, with the attributes that are known.
fn fresh(
    frame: &Frame,
    size: Vec2<usize>,
    kept: Option<&ExrMetadata>,
    meta: Option<&Meta>,
    chosen: Option<SampleType>,
) -> FlatImage {
    let format = frame.format();
    let names: &[&str] = match format.family {
        Family::Gray => &["Y", "A"],
        _ => &["G", "B", "R", "A"],
    };
    let old = kept.and_then(|k| Some((k.image.layer_data.get(k.layer)?, k.channels.first()?.1)));
    let stored = chosen.or(old.map(|o| o.1)).unwrap_or(SampleType::F32);
    let channels = names.iter().take(format.planes()).enumerate().map(|(p, name)| AnyChannel {
        name: Text::from(*name),
        sample_data: samples(frame, p, stored),
        quantize_linearly: *name == "A",
        sampling: Vec2(1, 1),
    });
    let encoding = match old {
        Some((layer, _)) => layer.encoding,
        None => Encoding {
            // PIZ is faster, but some readers fail on PIZ with float samples
            compression: Compression::ZIP16,
            blocks: Blocks::ScanLines,
            line_order: LineOrder::Increasing,
        },
    };
    let mut attributes = LayerAttributes::default();
    if let Some((layer, _)) = old {
        attributes = layer.attributes.clone();
        attributes.layer_position = Vec2(0, 0);
    }
    let channels = AnyChannels::sort(channels.collect());
    let mut image = Image::from_layer(Layer::new(size, attributes, encoding, channels));
    if let Some(kept) = kept {
        let window = image.attributes.display_window;
        image.attributes = kept.image.attributes.clone();
        image.attributes.display_window = window;
    } else {
        if format.aspect > Ratio::ZERO {
            image.attributes.pixel_aspect = format.aspect.to_f64() as f32;
        }
        image.attributes.chromaticities = chromaticities(format.primaries).map(|points| {
            let [red, green, blue, white] = points.map(|(x, y)| Vec2(x as f32, y as f32));
            Chromaticities { red, green, blue, white }
        });
        image.attributes.time_code = meta.and_then(|m| m.timecode.as_deref()).and_then(time_code);
        image.layer_data.attributes.frames_per_second = meta.and_then(|m| m.rate).and_then(rational);
    }
    Image { attributes: image.attributes, layer_data: [image.layer_data].into_iter().collect() }
}
