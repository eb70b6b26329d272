import BridgeCore
import BridgeIO
import Foundation
import Testing

/// Settings of TLS are tried before anything is dialled with them.
@Suite struct `Files of TLS` {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates.shared.get()
    }

    private func faults(_ change: (inout TLSSettings) -> Void) -> [String] {
        var settings = TLSSettings()
        change(&settings)
        return settings.fileFaults.map { "\($0.setting.rawValue): \($0.text)" }
    }

    /// A file with this content, beside the certificates.
    private func file(_ name: String, _ content: String) throws -> String {
        let path = certificates.path(name)
        try content.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func content(_ name: String) throws -> String {
        try String(contentsOfFile: certificates.path(name), encoding: .utf8)
    }

    @Test func `may be right`() throws {
        let together = try file("together.pem", content("client.pem") + content("client.key"))
        #expect(faults { _ in } == [])
        #expect(faults { $0.authorityFile = certificates.authority } == [])
        #expect(faults { $0.certificateFile = together } == [])
        #expect(
            faults {
                $0.certificateFile = certificates.path("client.pem")
                $0.keyFile = certificates.path("client.key")
            } == []
        )
    }

    @Test func `are each told that are wrong`() throws {
        let wrong = try file("wrong.pem", "not pem\n")
        let both = faults {
            $0.authorityFile = wrong
            $0.certificateFile = wrong
            $0.keyFile = wrong
        }
        #expect(
            both == [
                "ca: no authorities can be read from \(wrong): no certificate or crl found",
                "certificate: no certificate can be read from \(wrong): no start line",
            ]
        )
    }

    @Test func `need a key, and the one that fits`() throws {
        let certificate = certificates.path("client.pem")
        let missing = faults { $0.certificateFile = certificate }
        #expect(missing.count == 1)
        #expect(
            missing.first?.hasPrefix(
                "certificate: no key can be read from \(certificate), and `key` names no other file: "
            ) == true
        )
        let other = certificates.path("good.key")
        let unfit = faults {
            $0.certificateFile = certificate
            $0.keyFile = other
        }
        #expect(unfit == ["key: no key for \(certificate) can be read from \(other): key values mismatch"])
    }

    /// OpenSSL would ask on the terminal for the password, and the bridge would stand still.
    @Test func `need no password`() throws {
        let encrypted = try file(
            "encrypted.key",
            """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiBFBI2qiow3QICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEOLszirzjJaAtAVNVmi/hUEEgZCv
            wTESBmlcVjF9rQmptfKoTWTnbvNGUHyi5eGzLv6tWWjYbsx9Hmxit5uZ8SGv7Ept
            5E8+dMxsHC/myt/cfM4c1xWfkP/BeVZjZVUIAVdtvAEf8M9L9SepiHC70K/mG2Oe
            7CiTpUWqeg8zUII2s2T/R0O8jMW3ddbg0BwkgpVWESF9Hw4UY3jaRjdQjEF3dSs=
            -----END ENCRYPTED PRIVATE KEY-----

            """
        )
        let unusable = faults {
            $0.certificateFile = certificates.path("client.pem")
            $0.keyFile = encrypted
        }
        #expect(unusable.count == 1)
        #expect(unusable.first?.hasSuffix("it is encrypted, and `keyPassword` is not given") == true)
    }
}
