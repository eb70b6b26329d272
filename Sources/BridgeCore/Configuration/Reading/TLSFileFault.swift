/// What is wrong with a file of certificates or a key, or with the password of the latter.
package struct TLSFileFault: Equatable, Sendable {
    /// The settings that name such files, by their keys.
    package enum Setting: String, Sendable {
        case authorities = "ca"
        case certificate
        case key
        case keyPassword
    }

    package var setting: Setting
    /// A sentence for people.
    package var text: String

    package init(_ setting: Setting, _ text: String) {
        self.setting = setting
        self.text = text
    }
}
