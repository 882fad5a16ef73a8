//! Stand-in.
/// Stand-in.
pub fn filter_seed(user: u64, name: &str, nth: u64) -> u64 {
    user + name.len() as u64 + nth
}
