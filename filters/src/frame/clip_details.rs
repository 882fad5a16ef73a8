//! What is known of a clip besides its pictures.

/// What a filter may write of a clip into its pictures. A host that does not know a part leaves it empty. See
/// [`Values::supply_details`](crate::settings::Values::supply_details).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClipDetails {
    /// The name of its file, without folders.
    pub file: String,
    /// The timecode of its first frame.
    pub timecode: Option<String>,
    /// Further properties as names and values, as the container's tags.
    pub properties: Vec<(String, String)>,
    /// The first and the last number of the files of an image sequence.
    pub numbers: Option<(i64, i64)>,
    /// What is added to the number of a file to get the number of its frame.
    pub offset: i64,
    /// The seed of the recipe.
    pub seed: u64,
}
