//! Sprites that the tracks of a file move.

use crate::curve::stream::{Playhead, Tracks};
use crate::frame::FrameTime;
use crate::host::{PrepareError, lock};
use crate::settings::{FileAsset, SettingError};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The parts of a sprite that a track can animate: name, value without a track, and range.
const PARTS: [(&str, f64, f64, f64); 6] = [
    ("x", 0.0, -1e6, 1e6),
    ("y", 0.0, -1e6, 1e6),
    ("scale", 1.0, 0.0, 1000.0),
    ("rotation", 0.0, -1e6, 1e6),
    ("opacity", 1.0, 0.0, 1.0),
    ("cell", 0.0, 0.0, 1e9),
];

/// A sprite in one frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sprite {
    /// In luma samples from the top left corner.
    pub centre: [f64; 2],
    pub scale: f64,
    /// In degrees, clockwise.
    pub rotation: f64,
    pub opacity: f64,
    /// The number of the picture in the sheet.
    pub cell: f64,
}

impl Default for Sprite {
    fn default() -> Sprite {
        Sprite::of(PARTS.map(|part| part.1))
    }
}

impl Sprite {
    fn of([x, y, scale, rotation, opacity, cell]: [f64; 6]) -> Sprite {
        Sprite { centre: [x, y], scale, rotation, opacity, cell }
    }
}

/// The tracks of a file by sprite, and the positions at which the file is being read.
pub(super) struct SpriteTracks {
    name: String,
    file: Tracks,
    /// For each sprite the number of the track of each part.
    sprites: Vec<[Option<u32>; PARTS.len()]>,
    /// One for each frame in progress. The choice among them does not affect the values of a frame.
    heads: Mutex<Vec<Playhead>>,
    head_bytes: usize,
}

impl SpriteTracks {
    pub(super) fn new(asset: &FileAsset) -> Result<SpriteTracks, SettingError> {
        let fault = |problem: String| SettingError::new("tracks", problem);
        let name = asset.name();
        let file = asset.require::<Tracks>().map_err(fault)?;
        let mut order: BTreeMap<&str, usize> = BTreeMap::new();
        let mut sprites = Vec::new();
        for (track, of) in file.names().iter().enumerate() {
            let (sprite, part) = of.rsplit_once('.').unwrap_or(("", of));
            let Some(part) = PARTS.iter().position(|p| p.0 == part) else {
                let parts = PARTS.map(|p| p.0).join(", ");
                return Err(fault(format!(
                    "track '{of}' of {name}: a track is called NAME.PART, with a PART of {parts}"
                )));
            };
            let place = *order.entry(sprite).or_insert_with(|| {
                sprites.push([None; PARTS.len()]);
                sprites.len() - 1
            });
            sprites[place][part] = Some(track as u32);
        }
        for (sprite, place) in &order {
            if let Some(i) = (0..2).find(|i| sprites[*place][*i].is_none()) {
                let dot = if sprite.is_empty() { "" } else { "." };
                return Err(fault(format!("{name} has no track '{sprite}{dot}{}'", PARTS[i].0)));
            }
        }
        let head = file.start().map_err(|e| fault(format!("{name}: {e}")))?;
        let head_bytes = file.playhead_memory(&head);
        let (name, file, heads) = (name.to_owned(), file.clone(), Mutex::new(vec![head]));
        Ok(SpriteTracks { name, file, sprites, heads, head_bytes })
    }

    /// The number of sprites.
    pub(super) fn len(&self) -> usize {
        self.sprites.len()
    }

    /// Memory in bytes: for the file, and per frame in progress. A longer file adds only the positions of its jump
    /// frames.
    pub(super) fn memory(&self) -> (usize, usize) {
        (
            self.file.memory() + self.sprites.capacity() * size_of::<[Option<u32>; PARTS.len()]>(),
            self.head_bytes,
        )
    }

    /// Passes all sprites of a frame, in order, to a function.
    pub(super) fn at<T>(
        &self,
        at: &FrameTime,
        then: impl FnOnce(&mut dyn Iterator<Item = Sprite>) -> T,
    ) -> Result<T, PrepareError> {
        let now = if self.file.in_seconds() { at.time } else { at.frame };
        let failed = |e| PrepareError::Failed(format!("{}: {e}", self.name));
        // The head nearest before `now`, if there is one.
        let mut heads = lock(&self.heads);
        let nearest = (0..heads.len()).max_by_key(|i| heads[*i].now().filter(|then| *then <= now));
        let taken = nearest.map(|i| heads.swap_remove(i));
        drop(heads);
        let mut head = match taken {
            Some(head) => head,
            None => self.file.start().map_err(failed)?,
        };
        self.file.seek(&mut head, now).map_err(failed)?;
        let values = head.values();
        let value = |track: Option<u32>, part: usize| {
            let (_, without, low, high) = PARTS[part];
            track.map_or(without, |t| values[t as usize].clamp(low, high))
        };
        let sprite =
            |tracks: &[Option<u32>; PARTS.len()]| Sprite::of(core::array::from_fn(|i| value(tracks[i], i)));
        let result = then(&mut self.sprites.iter().map(sprite));
        lock(&self.heads).push(head);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{drawn_at, picture};
    use super::*;
    use crate::curve::Curve;
    use crate::curve::stream::write;
    use crate::filter::sprites::ENTRY;
    use crate::frame::{Depth, Family, Format};
    use crate::ratio::Ratio;
    use crate::settings::{Value, Values};
    use crate::simd::Level;
    use std::sync::Arc;

    fn stream(tracks: &[(&str, &str)]) -> Vec<u8> {
        let tracks: Vec<(String, Curve)> =
            tracks.iter().map(|t| (t.0.to_owned(), t.1.parse().unwrap())).collect();
        let mut bytes = Vec::new();
        write(&tracks, Ratio::whole(4), &mut bytes).unwrap();
        bytes
    }

    fn asset(bytes: Vec<u8>) -> FileAsset {
        FileAsset::named("t.gfa").read(Tracks::open(Arc::new(bytes)).unwrap(), 1)
    }

    fn file(tracks: &[(&str, &str)]) -> Value {
        Value::File(asset(stream(tracks)))
    }

    /// The definition: each sprite is a filter of its own, whose settings are the curves.
    #[test]
    fn many_are_as_many_filters_in_any_order() {
        let tracks = [
            ("b.x", "0=10;9=30"),
            ("a.y", "0=20;12=5"),
            ("b.y", "0~=12;5~=9;14=20"),
            ("a.x", "0=25"),
            ("a.rotation", "0=0;12=350"),
            ("a.scale", "0=1;6=1.75"),
            ("b.opacity", "0=1;9=0;14=0.5"),
            ("b.cell", "0|=0;3|=5;7=2"),
        ];
        let sheet = [("columns", "4"), ("rows", "3"), ("scale", "2"), ("cell", "1"), ("fade", "0.5")];
        let alone = [
            vec![
                ("position", "0=10,12;9=30,12"),
                ("fade", "0=0.5;9=0;14=0.25"),
                ("cell", "0|=1;3|=6;7=3"),
                ("scale", "2"),
            ],
            vec![
                ("position", "0=25,20;12=25,5"),
                ("rotation", "0=0;12=350"),
                ("scale", "0=2;6=3.5"),
                ("fade", "0.5"),
                ("cell", "1"),
            ],
        ];
        // The curve of b.y is smooth, that of its x is not: a position has one shape, so this one is straight too.
        let straight = tracks.map(|(name, text)| if name == "b.y" { (name, "0=12") } else { (name, text) });
        let filter = |more: &[(&str, Value)], texts: &[(&str, &str)]| {
            let mut values = Values::new(ENTRY.settings);
            for (id, text) in texts {
                let setting = ENTRY.settings.iter().find(|s| s.id == *id).unwrap();
                values.set(id, setting.parse(text).unwrap()).unwrap();
            }
            values
                .set("image", Value::Image(crate::settings::ImageAsset::named("x.png").read(picture())))
                .unwrap();
            more.iter().for_each(|(id, value)| values.set(id, value.clone()).unwrap());
            let format = Format::new(40, 30, Family::Rgb, Depth::Bits(8), (0, 0));
            ENTRY.bind(&values, &format, 1, Level::best()).unwrap()
        };
        let many = filter(&[("tracks", file(&straight))], &sheet);
        let each = alone.map(|texts| filter(&[], &[&texts[..], &sheet[..2]].concat()));
        let each: Vec<_> = each.iter().map(|f| &**f).collect();
        for n in [3, 0, 5, 6, 7, 14, 2, 9, 20, 1] {
            let (got, want) = (drawn_at(&[&*many], n), drawn_at(&each, n));
            // Where both cover a sample, the filters round to 8 bits in between.
            let rows = (0..3).flat_map(|p| (0..30).map(move |y| (p, y)));
            let off = rows.flat_map(|(p, y)| got.row::<u8>(p, y).iter().zip(want.row::<u8>(p, y)));
            let most = off.map(|(a, b)| a.abs_diff(*b)).max();
            assert!(most <= Some(1), "frame {n}: {most:?}");
        }
        // Shifted by the position.
        let shifted =
            filter(&[("tracks", file(&[("x", "0=8"), ("y", "0=6")]))], &[("position", "0=1,2;3=4,8")]);
        let one = filter(&[], &[("position", "12,14")]);
        assert!(drawn_at(&[&*shifted], 3) == drawn_at(&[&*one], 3));
    }

    #[test]
    fn an_hour_takes_hardly_more_memory_than_a_minute() {
        // 200 sprites with a key every ten seconds, and a jump frame every ten.
        let played = |minutes: i64| {
            let mut tracks = Vec::new();
            for i in 0..400i64 {
                let keys: Vec<String> = (0..=6 * minutes)
                    .map(|k| format!("{}={}", 240 * k + i % 200, (k * (i + 7)) % 900))
                    .collect();
                let name = format!("{}.{}", i / 2, if i % 2 == 0 { "x" } else { "y" });
                tracks.push((name, keys.join(";").parse::<Curve>().unwrap()));
            }
            let mut bytes = Vec::new();
            write(&tracks, Ratio::whole(240), &mut bytes).unwrap();
            let sprites = SpriteTracks::new(&asset(bytes)).unwrap();
            let (fixed, frame) = sprites.memory();
            let mut most = 0;
            let there = (0..1440 * minutes as i32).step_by(61);
            for n in there.clone().chain(there.rev().step_by(31)) {
                sprites
                    .at(&FrameTime::of_frame(n.into(), Ratio::whole(24)), |all| assert_eq!(all.count(), 200))
                    .unwrap();
                let heads = lock(&sprites.heads);
                assert_eq!(heads.len(), 1);
                most = most.max(heads[0].memory());
            }
            assert!(most <= frame, "{most} of {frame}");
            fixed + most
        };
        let (hour, minute) = (played(60), played(1));
        assert!(hour * 5 <= minute * 6, "{hour} bytes, {minute} for a minute");
    }

    #[test]
    fn invalid_track_names_are_refused() {
        let refused = |tracks: &[(&str, &str)]| SpriteTracks::new(&asset(stream(tracks))).err().unwrap();
        let problem = refused(&[("a.x", "0=1"), ("a.y", "0=1"), ("a.size", "0=1")]).problem;
        assert!(problem.contains("a.size") && problem.contains("scale"), "{problem}");
        assert!(refused(&[("a.x", "0=1"), ("a.y", "0=1"), ("b.x", "0=1")]).problem.contains("'b.y'"));
        assert!(SpriteTracks::new(&FileAsset::named("t.gfa")).is_err());
    }

    #[test]
    fn damage_is_an_error_of_the_frame() {
        let tracks = [("x", "0=1;1=2;2=5;3=4;4=8;5=1;6=7;7=9;8=3"), ("y", "0=1")];
        let mut bytes = stream(&tracks);
        // In the first keys: in the chunk after the head of the file and the first jump frame.
        let jump = 12 + 16 + u32::from_le_bytes(bytes[12 + 8..12 + 12].try_into().unwrap()) as usize;
        bytes[jump + 16 + 4] ^= 1;
        let sprites = SpriteTracks::new(&asset(bytes)).unwrap();
        let at = FrameTime::of_frame(2, Ratio::whole(24));
        let error = sprites.at(&at, |all| all.count()).unwrap_err();
        assert!(matches!(error, PrepareError::Failed(why) if why.starts_with("t.gfa: ")));
    }
}
