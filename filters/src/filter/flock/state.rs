//! A state as bytes, and back; and what it is known by.
//!
//! Little endian: steps u64, agents u32; then each of the eight numbers of all agents by id, as four stretches of bytes,
//! the highest first: those of a kind stand together, which is what packs well.

use super::rules::Agent;
use crate::noise::seed::mix64;

/// The version of the rules and of the bytes: another one makes another key.
const VERSION: u64 = 1;
const HEAD: usize = 12;

/// What the states of a flock are known by: a text that names all that shapes them.
pub(super) fn key(text: &str) -> u128 {
    let half = |start: u64| {
        text.bytes().fold(mix64(start ^ VERSION), |h, b| mix64(h.wrapping_add(u64::from(b) + 1)))
    };
    u128::from(half(0x666c_6f63_6b21)) << 64 | u128::from(half(0x9e37_79b9_7f4a_7c15))
}

/// What the state after so many steps is known by.
pub(super) fn at(key: u128, steps: u64) -> u128 {
    let half = |h: u64| mix64(h ^ mix64(steps.wrapping_add(0x9e37_79b9_7f4a_7c15)));
    u128::from(half((key >> 64) as u64)) << 64 | u128::from(half(key as u64).wrapping_add(steps))
}

pub(super) fn save(agents: &[Agent], steps: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + 32 * agents.len());
    out.extend(steps.to_le_bytes());
    out.extend((agents.len() as u32).to_le_bytes());
    for k in 0..8 {
        for byte in (0..4).rev() {
            out.extend(agents.iter().map(|a| (a[k].to_bits() >> (8 * byte)) as u8));
        }
    }
    out
}

/// The agents; `None` for bytes that are no state of so many agents after so many steps.
pub(super) fn load(bytes: &[u8], steps: u64, agents: usize) -> Option<Vec<Agent>> {
    let (head, body) = bytes.split_first_chunk::<HEAD>()?;
    let right = head[..8] == steps.to_le_bytes() && head[8..] == (agents as u32).to_le_bytes();
    if !right || body.len() != 32 * agents {
        return None;
    }
    let mut out = vec![[0f32; 8]; agents];
    for (i, agent) in out.iter_mut().enumerate() {
        for (k, v) in agent.iter_mut().enumerate() {
            let bits =
                (0..4).fold(0u32, |bits, byte| bits << 8 | u32::from(body[(4 * k + byte) * agents + i]));
            *v = f32::from_bits(bits);
        }
    }
    out.iter().flatten().all(|v| v.is_finite()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_and_others_are_refused() {
        let agents: Vec<Agent> =
            (0..50).map(|i| core::array::from_fn(|k| (i * 8 + k) as f32 * -0.37)).collect();
        let bytes = save(&agents, 48);
        assert_eq!(load(&bytes, 48, 50).as_deref(), Some(&agents[..]));
        assert_eq!((load(&bytes, 49, 50), load(&bytes, 48, 49)), (None, None));
        for cut in 0..bytes.len() {
            assert_eq!(load(&bytes[..cut], 48, 50), None);
        }
        let mut odd = agents.clone();
        odd[7][3] = f32::NAN;
        assert_eq!(load(&save(&odd, 48), 48, 50), None);
        assert_eq!(load(&save(&[], 0), 0, 0), Some(vec![]));
    }

    #[test]
    fn keys_differ() {
        let mut all = vec![key(""), key("a"), key("b"), key("ab"), key("ba")];
        all.extend((0..100).map(|n| at(key("flock"), n)));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
