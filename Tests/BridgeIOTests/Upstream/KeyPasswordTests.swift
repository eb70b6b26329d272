import BridgeCore
import BridgeIO
import Foundation
import Testing

/// Keys of our own that are encrypted.
@Suite struct `The password of a key` {
    private let certificates: TestCertificates

    init() throws {
        certificates = try TestCertificates.shared.get()
    }

    /// Encrypted with the password `right`; it belongs to no certificate.
    private static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgRa4Ii6skIvwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEOL1TC8JQr8yiXp49lj1tlsEgZBf
        KRwYvcYfpOod+n2+uXJuFBfCooSPJjBuZQxpaA/a86OoTQHUE6WAR5aIhDoEhu3f
        NSnpd6VI/fQUM3WiZIhUxzdQ8lTLI1/jkkSrmGDOXAn+3yNWGVfGPSGxmSWmvH30
        cdeP0LXHjTamE2FSB8i6+d1qN9ek2mcwR+IIfI8Q5t82GBXjf64T6fFyKCdd0NA=
        -----END ENCRYPTED PRIVATE KEY-----

        """

    private func faults(password: String?, isApart: Bool = true) throws -> [TLSFileFault] {
        let key = certificates.path("encrypted-\(UUID().uuidString).key")
        let content = try String(contentsOfFile: certificates.path("client.pem"), encoding: .utf8)
        try ((isApart ? "" : content) + Self.encrypted).write(toFile: key, atomically: true, encoding: .utf8)
        var settings = TLSSettings()
        settings.certificateFile = isApart ? certificates.path("client.pem") : key
        settings.keyFile = isApart ? key : nil
        settings.keyPassword = password.map { Secret($0) }
        return settings.fileFaults
    }

    @Test func `that is missing is told, and nobody is asked`() throws {
        let apart = try #require(try faults(password: nil).first)
        #expect(apart.setting == .key)
        #expect(apart.text.hasSuffix("it is encrypted, and `keyPassword` is not given"))
        let together = try #require(try faults(password: nil, isApart: false).first)
        #expect(together.setting == .certificate)
        #expect(together.text.hasSuffix("it is encrypted, and `keyPassword` is not given"))
    }

    @Test(arguments: ["wrong", "", "right ", String(repeating: "r", count: 5000)])
    func `that is wrong is told, and not shown`(password: String) throws {
        let fault = try #require(try faults(password: password).first)
        #expect(fault.setting == .keyPassword)
        #expect(fault.text.hasPrefix("it does not open the key in "))
        #expect(password.isEmpty || !fault.text.contains(password))
    }

    @Test func `that is right opens it, to find that it belongs to another certificate`() throws {
        let fault = try #require(try faults(password: "right").first)
        #expect(fault.text.hasSuffix("key values mismatch"))
        #expect(fault.setting == .key)
    }

    @Test func `may be given for a key that needs none`() throws {
        var settings = TLSSettings()
        settings.certificateFile = certificates.path("client.pem")
        settings.keyFile = certificates.path("client.key")
        settings.keyPassword = Secret("superfluous")
        #expect(settings.fileFaults == [])
    }
}
