//! A state as bytes, and back.
//!
//! Little endian: magic, version, settings, number of parcels, steps, time; then the parcels by number; then a hash
//! of all before. Nothing in it depends on how the state was reached.

use super::settings::MAX_PARCELS;
use super::{Fluid, FluidError, Parcel, Settings};
use crate::simd::Level;

/// The version that is written and read.
pub const VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"gf-fluid";
/// Magic, version, a spare word, 16 settings, parcels, steps, time.
const HEADER: usize = 8 + 4 + 4 + 16 * 4 + 8 + 8 + 8;
const PARCEL: usize = 28;

/// FNV-1a by words of eight bytes, the rest by bytes: against damage, not against intent.
fn hash(bytes: &[u8]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325u64;
    let (words, rest) = bytes.as_chunks::<8>();
    let all = words.iter().map(|w| u64::from_le_bytes(*w)).chain(rest.iter().map(|b| u64::from(*b)));
    for v in all {
        h = (h ^ v).wrapping_mul(0x0000_0100_0000_01b3);
        h ^= h >> 29;
    }
    h
}

impl Fluid {
    /// The state as bytes: equal states give equal bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut parcels: Vec<&Parcel> = self.parcels().collect();
        parcels.sort_unstable_by_key(|p| p.id);
        let mut out = Vec::with_capacity(HEADER + PARCEL * parcels.len() + 8);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend([0; 4]);
        out.extend(self.settings.words().iter().flat_map(|w| w.to_le_bytes()));
        out.extend((parcels.len() as u64).to_le_bytes());
        out.extend(self.steps.to_le_bytes());
        out.extend(self.time.to_le_bytes());
        for p in parcels {
            out.extend(p.id.to_le_bytes());
            out.extend(p.pos.iter().chain(&p.vel).flat_map(|v| v.to_le_bytes()));
        }
        out.extend(hash(&out).to_le_bytes());
        out
    }

    /// A fluid from a saved state, which goes on exactly as the one that was saved.
    ///
    /// # Errors
    /// [`FluidError::Damaged`], [`FluidError::Version`], [`FluidError::OtherSettings`], and those of [`Fluid::new`].
    pub fn restore(settings: Settings, bytes: &[u8], level: Level) -> Result<Fluid, FluidError> {
        let (whole, sum) = bytes.split_last_chunk::<8>().ok_or(FluidError::Damaged("too short"))?;
        if whole.get(..8) != Some(&MAGIC) {
            return Err(FluidError::Damaged("its first bytes are not those of a fluid state"));
        }
        let word = |at: usize| {
            let w = whole.get(at..at + 4).and_then(|b| b.first_chunk());
            w.map(|w| u32::from_le_bytes(*w)).ok_or(FluidError::Damaged("too short"))
        };
        let long = |at: usize| Ok::<u64, FluidError>(u64::from(word(at)?) | u64::from(word(at + 4)?) << 32);
        let found = word(8)?;
        if found != VERSION {
            return Err(FluidError::Version { found });
        }
        if hash(whole) != u64::from_le_bytes(*sum) {
            return Err(FluidError::Damaged("its hash is wrong"));
        }
        for (i, want) in settings.words().into_iter().enumerate() {
            if word(16 + 4 * i)? != want {
                return Err(FluidError::OtherSettings);
            }
        }
        let (count, steps) = (long(80)?, long(88)?);
        let time = f64::from_bits(long(96)?);
        if count > MAX_PARCELS as u64 || whole.len() != HEADER + PARCEL * count as usize {
            return Err(FluidError::Damaged("its length is not that of its parcels"));
        }
        if !(0.0..f64::INFINITY).contains(&time) {
            return Err(FluidError::Damaged("its time is not a valid number"));
        }
        let float = |b: &[u8]| b.first_chunk().map_or(f32::NAN, |b| f32::from_le_bytes(*b));
        let mut parcels = Vec::with_capacity(count as usize);
        for p in whole[HEADER..].chunks_exact(PARCEL) {
            let id = p.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
            let pos = core::array::from_fn(|a| float(&p[4 + 4 * a..]));
            let vel = core::array::from_fn(|a| float(&p[16 + 4 * a..]));
            parcels.push(Parcel { id, pos, vel, spare: 0 });
        }
        let mut fluid = Fluid::new(settings, &parcels, level)?;
        fluid.steps = steps;
        fluid.time = time;
        Ok(fluid)
    }
}
