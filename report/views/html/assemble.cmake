# Joins the scripts into one and notes the hashes under which the page's own policy lets style and script run.

# SHA-256 in base64, as Content-Security-Policy wants it: 3 bytes (6 hexadecimal digits) make 4 characters.
function(policy_hash file variable)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  file(SHA256 ${file} digits)
  set(text "")
  foreach(start RANGE 0 63 6)
    string(SUBSTRING "${digits}00" ${start} 6 group) # 32 bytes: the last group is filled up with zero bits
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${index} 1 character)
      string(APPEND text ${character})
    endforeach()
  endforeach()
  string(SUBSTRING ${text} 0 43 text)
  set(${variable} "sha256-${text}=" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${SCRIPTS} OUTPUT_FILE ${OUT}/page.js COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${PAGE} ${STYLE} DESTINATION ${OUT})
file(TOUCH ${OUT}/page.html ${OUT}/page.css)
policy_hash(${OUT}/page.js script)
policy_hash(${OUT}/page.css style)
file(WRITE ${OUT}/page_hashes.h "#define PAGE_SCRIPT_HASH \"${script}\"\n#define PAGE_STYLE_HASH \"${style}\"\n")
